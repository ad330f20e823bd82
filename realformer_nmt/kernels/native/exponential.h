/* exp of 16 numbers to an ulp or two: 0 below -104, and NaN stays NaN. */

#pragma once

#include "native.h"

WIDE static inline __m512 exponential(__m512 x) {
    x = _mm512_max_ps(_mm512_set1_ps(-104), x); /* of a NaN the second */
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504088896341f)), 8); /* x / ln 2 */
    __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145751953125f), x); /* x - n ln 2 in two parts */
    r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860682030941723e-6f), r);
    __m512 p = _mm512_set1_ps(1 / 5040.0f); /* |r| < 0.35: what the series leaves out is below 6e-9 */
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1 / 720.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1 / 120.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1 / 24.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1 / 6.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
    return _mm512_scalef_ps(p, n);
}
