// Tests which calls the sinks of a process pass on; see support/forwarding.hpp.
#include "support/forwarding.hpp"

#include <gtest/gtest.h>

#include "cluster/output/counted_sinks.hpp"
#include "cluster/output/result_sink.hpp"
#include "options/job.hpp"
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
    ResultSink sink(job, proof, end, {});
    EXPECT_EQ(gsort::test::forwarded_by(sink, end), "abandon ") << unique;
  }
}

}  // namespace
}  // namespace gsort::cluster
