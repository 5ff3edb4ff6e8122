// The expected texts were printed by NumPy 2.4.
#include "tensor/print.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <vector>

#include "tensor/float_text.h"
#include "tensor/tensor_impl.h"

namespace gradus {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

template <class T>
Tensor array(const Shape& shape, std::initializer_list<T> values) {
  return Tensor::from(std::span(values.begin(), values.size()), shape);
}

template <class T>
Tensor counted(const Shape& shape, double start, double step) {
  return Tensor::filled_by(dtype_v<T>, shape, [&](void* elements) {
    for (std::int64_t i = 0; i < shape.num_elements(); ++i)
      static_cast<T*>(elements)[i] = static_cast<T>(start + step * static_cast<double>(i));
  });
}

struct Row {
  Tensor array;
  const char* str;
  const char* repr;  // for a scalar, of Python's own number
};

const Row kRows[] = {
    {array<float>({3}, {1.0f, 2.0f, 3.5f}), R"([1.  2.  3.5])",
     R"(array([1. , 2. , 3.5], dtype=float32))"},
    {array<float>({3}, {0.33333334f, 0.6666667f, 100.0f}),
     R"([  0.33333334   0.6666667  100.        ])",
     R"(array([  0.33333334,   0.6666667 , 100.        ], dtype=float32))"},
    {array<double>({3}, {0.1, 0.2, -0.3}), R"([ 0.1  0.2 -0.3])", R"(array([ 0.1,  0.2, -0.3]))"},
    {array<float>({2, 2}, {1.0f, -2.25f, 0.5f, 1000.0f}), R"([[ 1.00e+00 -2.25e+00]
 [ 5.00e-01  1.00e+03]])",
     R"(array([[ 1.00e+00, -2.25e+00],
       [ 5.00e-01,  1.00e+03]], dtype=float32))"},
    {array<float>({4}, {kNan, 1.0f, -kInf, kInf}), R"([ nan   1. -inf  inf])",
     R"(array([ nan,   1., -inf,  inf], dtype=float32))"},
    {array<double>({2}, {kNan, kInf}), R"([nan inf])", R"(array([nan, inf]))"},
    {array<double>({2}, {-kInf, 1.5}), R"([-inf  1.5])", R"(array([-inf,  1.5]))"},
    {array<float>({2}, {0.0f, -0.0f}), R"([ 0. -0.])", R"(array([ 0., -0.], dtype=float32))"},
    {array<double>({2}, {0.001, 1.001}), R"([1.000e-03 1.001e+00])",
     R"(array([1.000e-03, 1.001e+00]))"},
    {array<float>({2}, {1e-05f, 2.0f}), R"([1.e-05 2.e+00])",
     R"(array([1.e-05, 2.e+00], dtype=float32))"},
    {array<float>({2}, {1e+06f, 1.0f}), R"([1.e+06 1.e+00])",
     R"(array([1.e+06, 1.e+00], dtype=float32))"},
    {array<float>({2}, {999999.0f, 1000.0f}), R"([999999.   1000.])",
     R"(array([999999.,   1000.], dtype=float32))"},
    {array<double>({2}, {100000000.0, 200000000.0}), R"([1.e+08 2.e+08])",
     R"(array([1.e+08, 2.e+08]))"},
    {array<double>({2}, {1e-200, 1.5e+300}), R"([1.0e-200 1.5e+300])",
     R"(array([1.0e-200, 1.5e+300]))"},
    {array<double>({2}, {5e-324, 1.7976931348623157e+308}), R"([4.94065646e-324 1.79769313e+308])",
     R"(array([4.94065646e-324, 1.79769313e+308]))"},
    {array<float>({2}, {1e-10f, 123456.79f}), R"([1.0000000e-10 1.2345679e+05])",
     R"(array([1.0000000e-10, 1.2345679e+05], dtype=float32))"},
    {array<double>({2}, {3.141592653589793, 27.18281828459045}), R"([ 3.14159265 27.18281828])",
     R"(array([ 3.14159265, 27.18281828]))"},
    {array<double>({2}, {0.10000000000100001, 2.0}), R"([0.1 2. ])", R"(array([0.1, 2. ]))"},
    {array<half>({3}, {half(0.1f), half(2.0f), half(-0.01563f)}), R"([ 0.1      2.      -0.01563])",
     R"(array([ 0.1    ,  2.     , -0.01563], dtype=float16))"},
    {array<half>({2}, {half(1e+03f), half(6.55e+04f)}), R"([1.00e+03 6.55e+04])",
     R"(array([1.00e+03, 6.55e+04], dtype=float16))"},
    {array<bfloat>({5}, {bfloat(1.5f), bfloat(0.10009765625f), bfloat(-2.0f), bfloat(9999220736.0f),
                         bfloat(kNan)}),
     R"([1.5 0.100098 -2 9.99922e+09 nan])",
     R"(array([1.5, 0.100098, -2, 9.99922e+09, nan], dtype=bfloat16))"},
    {array<bool>({2, 2}, {true, false, true, true}), R"([[ True False]
 [ True  True]])",
     R"(array([[ True, False],
       [ True,  True]]))"},
    {array<std::int8_t>({3}, {-128, 0, 127}), R"([-128    0  127])",
     R"(array([-128,    0,  127], dtype=int8))"},
    {array<std::uint64_t>({2}, {0, UINT64_MAX}), R"([                   0 18446744073709551615])",
     R"(array([                   0, 18446744073709551615], dtype=uint64))"},
    {array<std::int64_t>({1, 2}, {INT64_MIN, 1}),
     R"([[-9223372036854775808                    1]])",
     R"(array([[-9223372036854775808,                    1]]))"},
    {array<std::uint8_t>({1}, {7}), R"([7])", R"(array([7], dtype=uint8))"},
    {array<std::int32_t>({2, 3}, {0, 1, 2, 3, 4, 5}), R"([[0 1 2]
 [3 4 5]])",
     R"(array([[0, 1, 2],
       [3, 4, 5]], dtype=int32))"},
    {array<std::int16_t>({1, 2, 1}, {1, -20}), R"([[[  1]
  [-20]]])",
     R"(array([[[  1],
        [-20]]], dtype=int16))"},
    {array<std::uint16_t>({1}, {65535}), R"([65535])", R"(array([65535], dtype=uint16))"},
    {array<std::uint32_t>({1}, {1}), R"([1])", R"(array([1], dtype=uint32))"},
    {array<std::complex<float>>({2}, {{1.0f, 2.0f}, {3.0f, -0.5f}}), R"([1.+2.j  3.-0.5j])",
     R"(array([1.+2.j , 3.-0.5j], dtype=complex64))"},
    {array<std::complex<double>>({2}, {{kNan, -kInf}, {1e-10, -1.0}}),
     R"([   nan-infj 1.e-10 -1.j])", R"(array([   nan-infj, 1.e-10 -1.j]))"},
    {array<float>({0}, {}), R"([])", R"(array([], dtype=float32))"},
    {array<double>({0, 3}, {}), R"([])", R"(array([], shape=(0, 3), dtype=float64))"},
    {array<float>({2, 2, 2}, {0.0f, 1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 7.0f}), R"([[[0. 1.]
  [2. 3.]]

 [[4. 5.]
  [6. 7.]]])",
     R"(array([[[0., 1.],
        [2., 3.]],

       [[4., 5.],
        [6., 7.]]], dtype=float32))"},
    {counted<double>({30}, 0, 1.5),
     R"([ 0.   1.5  3.   4.5  6.   7.5  9.  10.5 12.  13.5 15.  16.5 18.  19.5
 21.  22.5 24.  25.5 27.  28.5 30.  31.5 33.  34.5 36.  37.5 39.  40.5
 42.  43.5])",
     R"(array([ 0. ,  1.5,  3. ,  4.5,  6. ,  7.5,  9. , 10.5, 12. , 13.5, 15. ,
       16.5, 18. , 19.5, 21. , 22.5, 24. , 25.5, 27. , 28.5, 30. , 31.5,
       33. , 34.5, 36. , 37.5, 39. , 40.5, 42. , 43.5]))"},
    {counted<std::int64_t>({40}, 0, 1001),
     R"([    0  1001  2002  3003  4004  5005  6006  7007  8008  9009 10010 11011
 12012 13013 14014 15015 16016 17017 18018 19019 20020 21021 22022 23023
 24024 25025 26026 27027 28028 29029 30030 31031 32032 33033 34034 35035
 36036 37037 38038 39039])",
     R"(array([    0,  1001,  2002,  3003,  4004,  5005,  6006,  7007,  8008,
        9009, 10010, 11011, 12012, 13013, 14014, 15015, 16016, 17017,
       18018, 19019, 20020, 21021, 22022, 23023, 24024, 25025, 26026,
       27027, 28028, 29029, 30030, 31031, 32032, 33033, 34034, 35035,
       36036, 37037, 38038, 39039]))"},
    {counted<float>({13}, 1000.25, 1),
     R"([1000.25 1001.25 1002.25 1003.25 1004.25 1005.25 1006.25 1007.25 1008.25
 1009.25 1010.25 1011.25 1012.25])",
     R"(array([1000.25, 1001.25, 1002.25, 1003.25, 1004.25, 1005.25, 1006.25,
       1007.25, 1008.25, 1009.25, 1010.25, 1011.25, 1012.25],
      dtype=float32))"},
    {counted<std::int32_t>({2000}, 0, 1), R"([   0    1    2 ... 1997 1998 1999])",
     R"(array([   0,    1,    2, ..., 1997, 1998, 1999],
      shape=(2000,), dtype=int32))"},
    {counted<float>({500, 3}, 0, 1), R"([[0.000e+00 1.000e+00 2.000e+00]
 [3.000e+00 4.000e+00 5.000e+00]
 [6.000e+00 7.000e+00 8.000e+00]
 ...
 [1.491e+03 1.492e+03 1.493e+03]
 [1.494e+03 1.495e+03 1.496e+03]
 [1.497e+03 1.498e+03 1.499e+03]])",
     R"(array([[0.000e+00, 1.000e+00, 2.000e+00],
       [3.000e+00, 4.000e+00, 5.000e+00],
       [6.000e+00, 7.000e+00, 8.000e+00],
       ...,
       [1.491e+03, 1.492e+03, 1.493e+03],
       [1.494e+03, 1.495e+03, 1.496e+03],
       [1.497e+03, 1.498e+03, 1.499e+03]], shape=(500, 3), dtype=float32))"},
    {counted<std::int64_t>({7, 7, 30}, 0, 1), R"([[[   0    1    2 ...   27   28   29]
  [  30   31   32 ...   57   58   59]
  [  60   61   62 ...   87   88   89]
  ...
  [ 120  121  122 ...  147  148  149]
  [ 150  151  152 ...  177  178  179]
  [ 180  181  182 ...  207  208  209]]

 [[ 210  211  212 ...  237  238  239]
  [ 240  241  242 ...  267  268  269]
  [ 270  271  272 ...  297  298  299]
  ...
  [ 330  331  332 ...  357  358  359]
  [ 360  361  362 ...  387  388  389]
  [ 390  391  392 ...  417  418  419]]

 [[ 420  421  422 ...  447  448  449]
  [ 450  451  452 ...  477  478  479]
  [ 480  481  482 ...  507  508  509]
  ...
  [ 540  541  542 ...  567  568  569]
  [ 570  571  572 ...  597  598  599]
  [ 600  601  602 ...  627  628  629]]

 ...

 [[ 840  841  842 ...  867  868  869]
  [ 870  871  872 ...  897  898  899]
  [ 900  901  902 ...  927  928  929]
  ...
  [ 960  961  962 ...  987  988  989]
  [ 990  991  992 ... 1017 1018 1019]
  [1020 1021 1022 ... 1047 1048 1049]]

 [[1050 1051 1052 ... 1077 1078 1079]
  [1080 1081 1082 ... 1107 1108 1109]
  [1110 1111 1112 ... 1137 1138 1139]
  ...
  [1170 1171 1172 ... 1197 1198 1199]
  [1200 1201 1202 ... 1227 1228 1229]
  [1230 1231 1232 ... 1257 1258 1259]]

 [[1260 1261 1262 ... 1287 1288 1289]
  [1290 1291 1292 ... 1317 1318 1319]
  [1320 1321 1322 ... 1347 1348 1349]
  ...
  [1380 1381 1382 ... 1407 1408 1409]
  [1410 1411 1412 ... 1437 1438 1439]
  [1440 1441 1442 ... 1467 1468 1469]]])",
     R"(array([[[   0,    1,    2, ...,   27,   28,   29],
        [  30,   31,   32, ...,   57,   58,   59],
        [  60,   61,   62, ...,   87,   88,   89],
        ...,
        [ 120,  121,  122, ...,  147,  148,  149],
        [ 150,  151,  152, ...,  177,  178,  179],
        [ 180,  181,  182, ...,  207,  208,  209]],

       [[ 210,  211,  212, ...,  237,  238,  239],
        [ 240,  241,  242, ...,  267,  268,  269],
        [ 270,  271,  272, ...,  297,  298,  299],
        ...,
        [ 330,  331,  332, ...,  357,  358,  359],
        [ 360,  361,  362, ...,  387,  388,  389],
        [ 390,  391,  392, ...,  417,  418,  419]],

       [[ 420,  421,  422, ...,  447,  448,  449],
        [ 450,  451,  452, ...,  477,  478,  479],
        [ 480,  481,  482, ...,  507,  508,  509],
        ...,
        [ 540,  541,  542, ...,  567,  568,  569],
        [ 570,  571,  572, ...,  597,  598,  599],
        [ 600,  601,  602, ...,  627,  628,  629]],

       ...,

       [[ 840,  841,  842, ...,  867,  868,  869],
        [ 870,  871,  872, ...,  897,  898,  899],
        [ 900,  901,  902, ...,  927,  928,  929],
        ...,
        [ 960,  961,  962, ...,  987,  988,  989],
        [ 990,  991,  992, ..., 1017, 1018, 1019],
        [1020, 1021, 1022, ..., 1047, 1048, 1049]],

       [[1050, 1051, 1052, ..., 1077, 1078, 1079],
        [1080, 1081, 1082, ..., 1107, 1108, 1109],
        [1110, 1111, 1112, ..., 1137, 1138, 1139],
        ...,
        [1170, 1171, 1172, ..., 1197, 1198, 1199],
        [1200, 1201, 1202, ..., 1227, 1228, 1229],
        [1230, 1231, 1232, ..., 1257, 1258, 1259]],

       [[1260, 1261, 1262, ..., 1287, 1288, 1289],
        [1290, 1291, 1292, ..., 1317, 1318, 1319],
        [1320, 1321, 1322, ..., 1347, 1348, 1349],
        ...,
        [1380, 1381, 1382, ..., 1407, 1408, 1409],
        [1410, 1411, 1412, ..., 1437, 1438, 1439],
        [1440, 1441, 1442, ..., 1467, 1468, 1469]]], shape=(7, 7, 30)))"},
    {counted<float>({1, 1, 1200}, 1, 0), R"([[[1. 1. 1. ... 1. 1. 1.]]])",
     R"(array([[[1., 1., 1., ..., 1., 1., 1.]]], shape=(1, 1, 1200), dtype=float32))"},
    {array<float>({}, {0.1f}), R"(0.1)", R"(0.10000000149011612)"},
    {array<float>({}, {3.0f}), R"(3.0)", R"(3.0)"},
    {array<float>({}, {1e-05f}), R"(1e-05)", R"(9.999999747378752e-06)"},
    {array<float>({}, {1e+07f}), R"(1e+07)", R"(10000000.0)"},
    {array<half>({}, {half(0.1f)}), R"(0.1)", R"(0.0999755859375)"},
    {array<double>({}, {1e+16}), R"(1e+16)", R"(1e+16)"},
    {array<double>({}, {kNan}), R"(nan)", R"(nan)"},
    {array<bfloat>({}, {bfloat(0.10009765625f)}), R"(0.100098)", R"(0.10009765625)"},
    {array<bool>({}, {true}), R"(True)", R"(True)"},
    {array<std::int64_t>({}, {-7}), R"(-7)", R"(-7)"},
    {array<std::complex<float>>({}, {{1.0f, 2.0f}}), R"((1+2j))", R"((1+2j))"},
    {array<std::complex<double>>({}, {{0.0, 2.0}}), R"(2j)", R"(2j)"},
    {array<double>({}, {-0.0}), R"(-0.0)", R"(-0.0)"},
};

TEST(Print, AsNumPyDoes) {
  for (const Row& row : kRows) {
    EXPECT_EQ(to_string(row.array), row.str);
    if (row.array.rank() == 0) continue;
    EXPECT_EQ(array_repr(row.array), row.repr);
  }
}

TEST(Print, TensorsAsTensorFlowDoes) {
  for (const Row& row : kRows) {
    const std::string str = row.str, value = row.repr;
    const std::string facts =
        "shape=" + to_string(row.array.shape()) + ", dtype=" + name_of(row.array.dtype());
    const auto broken = [](const std::string& s) {
      return (s.find('\n') == std::string::npos ? "" : "\n") + s;
    };
    EXPECT_EQ(tensor_str(row.array), "tf.Tensor(" + broken(str) + ", " + facts + ")");
    EXPECT_EQ(repr(row.array), "<tf.Tensor: " + facts + ", numpy=" + broken(value) + ">");
  }
}

TEST(Print, Tensors) {
  const Tensor t = {{1.0f, 2.5f}, {-3.0f, 4.0f}};
  EXPECT_EQ(to_string(t), "[[ 1.   2.5]\n [-3.   4. ]]");
  EXPECT_EQ(repr(Tensor(2)), "<tf.Tensor: shape=(), dtype=int32, numpy=2>");
  std::ostringstream out;
  out << t << Tensor(0.5);
  EXPECT_EQ(out.str(), to_string(t) + "0.5");
  EXPECT_EQ(to_string(Tensor()), "<undefined tensor>");
  const Tensor traced = make_placeholder(ValueKind::traced, float32, {2, 3});
  EXPECT_EQ(to_string(traced), "<traced tensor: shape=(2, 3), dtype=float32>");
  EXPECT_EQ(repr(traced), to_string(traced));
}

TEST(FloatText, EveryHalfReadsBackFromItsShortestText) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    const float x = h;
    if (!std::isfinite(x)) continue;
    const std::string text = scalar_text(h);
    EXPECT_EQ(half(std::strtof(text.c_str(), nullptr)).bits, bits) << text;
  }
}

}  // namespace
}  // namespace gradus
