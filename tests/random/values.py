"""Values that every release must keep: they are those of the published algorithms.

JAX 0.10.2 gives them too. Each entry is an expression and its value.
"""

from __future__ import annotations

# fmt: off
EXACT = [
    ("random.key_data(random.key(-1))", [0, 4294967295]),
    ("random.key_data(random.split(KEY, 3))",
     [[1832780943, 270669613], [64467757, 2916123636], [2465931498, 255383827]]),
    ("random.key_data(random.fold_in(KEY, 7))", [2547012911, 1371500959]),
    ("random.bits(KEY, (4,), 'uint8')", [162, 217, 249, 215]),
    ("random.bits(KEY, (4,), 'uint16')", [5026, 12505, 63993, 49623]),
    ("random.bits(KEY, (2, 2), 'uint32')", [[2098992034, 2919706841], [2646866425, 2409546199]]),
    ("random.randint(KEY, (8,), 0, 10)", [4, 4, 1, 9, 9, 9, 7, 7]),
    ("random.randint(KEY, (6,), -200, 300, 'int8')", [68, -110, 55, 65, 13, -21]),
    ("random.randint(KEY, (6,), 0, 10, 'uint32')", [4, 4, 1, 9, 9, 9]),
    ("random.permutation(KEY, 10)", [7, 4, 2, 5, 3, 6, 8, 9, 0, 1]),
    ("random.permutation(KEY, numpy.arange(6).reshape(3, 2))", [[4, 5], [0, 1], [2, 3]]),
    ("random.permutation(KEY, numpy.arange(6).reshape(3, 2), axis=1, independent=True)",
     [[0, 1], [2, 3], [4, 5]]),
    ("random.choice(KEY, 10, (5,))", [4, 4, 1, 9, 9]),
    ("random.choice(KEY, 10, (5,), replace=False)", [7, 4, 2, 5, 3]),
    ("random.choice(KEY, 4, (8,), p=P)", [2, 2, 2, 2, 2, 2, 3, 1]),
    ("random.choice(KEY, 4, (3,), replace=False, p=P)", [3, 2, 1]),
    ("random.bernoulli(KEY, 0.3, (8,))",
     [False, False, False, False, False, False, True, False]),
    ("random.categorical(KEY, LOGITS)", [2, 0]),
    ("random.categorical(KEY, LOGITS, shape=(4, 2))", [[2, 0], [2, 0], [1, 0], [1, 2]]),
    ("random.categorical(KEY, LOGITS, axis=0)", [1, 0, 0]),
    ("random.categorical(KEY, LOGITS, shape=(2, 2), replace=False)", [[2, 0], [1, 2]]),
    ("random.rademacher(KEY, (6,))", [1, -1, -1, -1, 1, -1]),
]

CLOSE = [
    ("random.uniform(KEY, (3,))", [0.48870956897735596, 0.6797971725463867, 0.6162714958190918]),
    ("random.uniform(KEY, (3,), minval=-3.0, maxval=5.0)",
     [0.9096765518188477, 2.4383773803710938, 1.9301719665527344]),
    ("random.uniform(KEY, (3,), 'float16')", [0.076171875, 0.1904296875, 0.9755859375]),
    ("random.uniform(KEY, (3,), 'bfloat16')", [0.6328125, 0.84375, 0.96875]),
    ("random.normal(KEY, (3,))", [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591]),
    ("random.normal(KEY, (3,), 'float16')", [-1.4296875, -0.87548828125, 1.974609375]),
    ("random.normal(KEY, (2,), 'complex64')",
     [0.05368746072053909 + 0.4283398389816284j, -0.34389618039131165 + 0.5650094747543335j]),
    ("random.truncated_normal(KEY, -1.0, 2.0, (3,))",
     [0.14770005643367767, 0.5684449076652527, 0.42102551460266113]),
    ("random.exponential(KEY, (3,))", [0.670817494392395, 1.1388006210327148, 0.9578199982643127]),
    ("random.gumbel(KEY, (3,))", [0.3340933918952942, 0.952019453048706, 0.7255305647850037]),
    ("random.gumbel(KEY, (3,), mode='high')",
     [0.39925798773765564, -0.12997561693191528, 0.043095413595438004]),
    ("random.laplace(KEY, (3,))",
     [0.022839652374386787, -0.4456535577774048, -0.2646729052066803]),
    ("random.logistic(KEY, (3,))",
     [-0.0451694130897522, 0.7528398036956787, 0.47375231981277466]),
    ("random.cauchy(KEY, (3,))", [-0.03548463061451912, 0.6337261199951172, 0.38244056701660156]),
]

OLD_LAYOUT = [
    ("random.key_data(random.split(KEY, 3))",
     [[3134548294, 3733159049], [3746501087, 894150801], [801545058, 2363201431]]),
    ("random.bits(KEY, (5,), 'uint8')", [45, 179, 215, 3, 244]),
    ("random.bits(KEY, (5,), 'uint16')", [8426, 37627, 63599, 6563, 55571]),
    ("random.bits(KEY, (5,), 'uint32')",
     [3134548294, 3733159049, 843694964, 894150801, 801545058]),
]
