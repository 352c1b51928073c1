// Tests which calls the Result of a process passes on; see support/forwarding.hpp.
#include "support/forwarding.hpp"

#include <gtest/gtest.h>

#include "options/job.hpp"
#include "pipeline/output/result.hpp"
#include "pipeline/proof/proof.hpp"

namespace gsort::cluster {
namespace {

TEST(ForwardingOnCluster, OfEachSink) {
  Job job;
  job.element.key.type = KeyType::kU32;
  Proof proof(job.element, true);
  for (const bool unique : {false, true}) {
    job.unique = unique;
    gsort::test::OfferingSink end;
    Result result(job, proof, end, {7, unique ? 0U : 7U});
    EXPECT_EQ(gsort::test::forwarded_by(result.sink(), end),
              unique ? "enter leave abandon " : "proof enter leave abandon ");
  }
}

}  // namespace
}  // namespace gsort::cluster
