#include "gradus/image_files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "gradus/error.h"

namespace gradus {
namespace {

Tensor picture(std::int64_t height, std::int64_t width, std::int64_t channels,
               DType dtype = DType::uint8) {
  return Tensor::filled_by(dtype, {height, width, channels}, [&](void* p) {
    const auto bytes = static_cast<std::size_t>(height * width * channels) * size_of(dtype);
    for (std::size_t i = 0; i < bytes; ++i)
      static_cast<unsigned char*>(p)[i] = static_cast<unsigned char>(i * i % 253);
  });
}

bool same(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw_data(), b.raw_data(), a.num_bytes()) == 0;
}

TEST(ImageFiles, PngKeepsEveryPixel) {
  for (const DType dtype : {DType::uint8, DType::uint16})
    for (std::int64_t channels = 1; channels <= 4; ++channels)
      for (const auto& [height, width] : {std::pair<int, int>{1, 1}, {3, 7}, {65, 33}}) {
        const Tensor image = picture(height, width, channels, dtype);
        const std::string file = encode_png(image);
        EXPECT_EQ(image_format(file), ImageFormat::png);
        EXPECT_TRUE(same(decode_png(file, 0, dtype), image));
      }
}

TEST(ImageFiles, JpegIsCloseAndHasItsShape) {
  const Tensor flat = Tensor::filled_by(DType::uint8, {19, 30, 3},
                                        [](void* p) { std::memset(p, 77, 19 * 30 * 3); });
  for (const bool progressive : {false, true}) {
    const std::string file = encode_jpeg(flat, {.progressive = progressive});
    EXPECT_EQ(image_format(file), ImageFormat::jpeg);
    EXPECT_EQ(jpeg_shape(file), (Shape{19, 30, 3}));
    const Tensor image = decode_image(file);
    ASSERT_EQ(image.shape(), (Shape{19, 30, 3}));
    for (const std::uint8_t pixel : image.to_vector<std::uint8_t>()) EXPECT_NEAR(pixel, 77, 1);
    EXPECT_EQ(decode_jpeg(file, {.channels = 1, .ratio = 4}).shape(), (Shape{5, 8, 1}));
    EXPECT_EQ(decode_jpeg(file, {.crop = {{1, 2, 3, 4}}}).shape(), (Shape{3, 4, 3}));
  }
}

TEST(ImageFiles, GifWithRepeatedRunsOfOneColour) {
  // 2 x 2 pixels of index 1: the second code stands for a run that is just being defined.
  const unsigned char file[] = {'G', 'I', 'F', '8', '9', 'a', 2, 0,    2,    0, 0x80, 0,
                                0,   0,   0,   0,   9,   8,   7, 0x2c, 0,    0, 0,    0,
                                2,   0,   2,   0,   0,   2,   2, 0x8c, 0x53, 0, 0x3b};
  const Tensor frames = decode_image({reinterpret_cast<const char*>(file), sizeof file}, 0,
                                     /*expand_animations=*/true);
  EXPECT_EQ(frames.shape(), (Shape{1, 2, 2, 3}));
  EXPECT_EQ(frames.to_vector<std::uint8_t>(),
            (std::vector<std::uint8_t>{9, 8, 7, 9, 8, 7, 9, 8, 7, 9, 8, 7}));
}

TEST(ImageFiles, RefusesWhatIsNoImage) {
  EXPECT_THROW(decode_image(""), InvalidArgumentError);
  EXPECT_THROW(decode_image("hello"), InvalidArgumentError);
  EXPECT_THROW(encode_png(picture(2, 2, 5)), InvalidArgumentError);
  EXPECT_THROW(encode_jpeg(picture(2, 2, 2)), InvalidArgumentError);
  EXPECT_THROW(encode_jpeg(picture(0, 2, 3)), InvalidArgumentError);
  EXPECT_THROW(encode_jpeg(picture(2, 2, 3, DType::uint16)), InvalidArgumentError);
}

TEST(ImageFiles, RefusesCropsThatReachBeyondTheImage) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::string file = encode_jpeg(picture(9, 8, 3));
  EXPECT_EQ(decode_jpeg(file, {.crop = {{0, 0, 9, 8}}}).shape(), (Shape{9, 8, 3}));
  for (const std::array<std::int64_t, 4>& crop : {std::array<std::int64_t, 4>{1, 0, 9, 8},
                                                  {0, 1, 9, 8},
                                                  {-1, 0, 2, 2},
                                                  {0, 0, 0, 1},
                                                  {most, 0, 1, 1},
                                                  {0, most, 1, 1},
                                                  {1, 0, most, 1},
                                                  {0, 1, 1, most}})
    EXPECT_THROW(decode_jpeg(file, {.crop = crop}), InvalidArgumentError) << crop[0] << crop[1];
}

TEST(ImageFiles, EveryTruncationAndFlippedBitsAreSurvived) {
  std::mt19937 random(5);
  for (const std::string& file : {encode_png(picture(9, 8, 4)), encode_jpeg(picture(20, 17, 3)),
                                  encode_jpeg(picture(20, 17, 3), {.progressive = true})}) {
    for (std::size_t length = 0; length + 2 < file.size(); ++length)
      EXPECT_THROW(decode_image(file.substr(0, length)), InvalidArgumentError) << length;
    for (int i = 0; i < 300; ++i) {
      std::string damaged = file;
      damaged[random() % file.size()] ^= static_cast<char>(1 << random() % 8);
      try {
        decode_image(damaged);
      } catch (const InvalidArgumentError&) {  // or an image: not every bit is checked
      }
    }
  }
}

}  // namespace
}  // namespace gradus
