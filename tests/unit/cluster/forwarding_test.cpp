// Tests which calls the sinks of a process pass on; see support/forwarding.hpp.
#include "support/forwarding.hpp"

#include <gtest/gtest.h>

#include "base/meter.hpp"
#include "cluster/output/deferred_parts.hpp"
#include "io/runs/run_store.hpp"
#include "options/job.hpp"
#include "pipeline/output/result.hpp"
#include "pipeline/proof/proof.hpp"
#include "unit/io/support.hpp"

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

// Blocks, and pieces in two steps, would bypass the run that keeps them.
TEST(ForwardingOnCluster, OfDeferredParts) {
  const io::test::TempFolder folder;
  const ElementFormat format{{KeyType::kU32}, std::nullopt};
  io::RunStoreOptions options;
  options.block_elements = 512;
  io::RunStore store({folder.path()}, sizeof(std::uint32_t), options);
  Meter meter;
  gsort::test::OfferingSink end;
  DeferredParts parts(store, {0, 0}, format, meter, end);
  EXPECT_EQ(gsort::test::forwarded_by(parts, end), "enter leave abandon ");
}

}  // namespace
}  // namespace gsort::cluster
