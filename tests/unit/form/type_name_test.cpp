#include "form/type_name.hpp"

#include <gtest/gtest.h>

namespace gsort {
namespace {

TEST(TypeName, IsThatOfGsortInAnyCase) {
  for (const KeyType type : kAllKeyTypes) {
    EXPECT_EQ(type_named(name_of(type)), (NamedType{type, {}}));
  }
  EXPECT_EQ(type_named("U64"), (NamedType{KeyType::kU64, {}}));
  EXPECT_EQ(type_named("Time64"), (NamedType{KeyType::kTime64, {}}));
}

TEST(TypeName, MayBeThatOfNumpyOrC) {
  EXPECT_EQ(type_named("uint8"), (NamedType{KeyType::kU8, {}}));
  EXPECT_EQ(type_named("int128"), (NamedType{KeyType::kI128, {}}));
  EXPECT_EQ(type_named("uint16_t"), (NamedType{KeyType::kU16, {}}));
  EXPECT_EQ(type_named("FLOAT32"), (NamedType{KeyType::kF32, {}}));
  EXPECT_EQ(type_named("bfloat16"), (NamedType{KeyType::kBF16, {}}));
  EXPECT_EQ(type_named("double"), (NamedType{KeyType::kF64, {}}));
  EXPECT_EQ(type_named("datetime64"), (NamedType{KeyType::kTime64, {}}));
}

TEST(TypeName, MayBeACodeWithAByteOrder) {
  EXPECT_EQ(type_named("<u8"), (NamedType{KeyType::kU64, false}));
  EXPECT_EQ(type_named(">f8"), (NamedType{KeyType::kF64, true}));
  EXPECT_EQ(type_named("=i2"), (NamedType{KeyType::kI16, false}));
  EXPECT_EQ(type_named("|i1"), (NamedType{KeyType::kI8, false}));
}

TEST(TypeName, IsNotGuessed) {
  for (const char* const word :
       {"",    "u",   "int",  "float", "f8",   "u4",   "uint", "uint7", "float128", "_t", "<",
        "<u3", "<c8", "<u16", "|u8",   "<u8 ", "<u-8", "<U64", "u64x",  "double_t", ">M8"}) {
    EXPECT_EQ(type_named(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace gsort
