/**
 * Families of operations: what a box is coloured by at first. One table of operation names; a name that is not in it
 * counts as `other`.
 */

import { NodeKind, NodeRole, type Document, type Graph } from '../document/graph.ts';
import type { Rows } from './outline.ts';

export interface Family {
  /** Key into the palettes of `draw/theme.ts`. */
  readonly key: string;
  /** For the legend. */
  readonly label: string;
}

export const families: readonly Family[] = [
  { key: 'matmul', label: 'matmul' },
  { key: 'elementwise', label: 'elementwise' },
  { key: 'reduction', label: 'reduction' },
  { key: 'movement', label: 'movement' },
  { key: 'random', label: 'random' },
  { key: 'control', label: 'function or loop' },
  { key: 'communication', label: 'between devices' },
  { key: 'other', label: 'other' }
];

const members: Readonly<Record<string, string>> = {
  matmul:
    'dot_general dot dot_product_attention conv_general_dilated convolution ragged_dot ragged_dot_general triangular_solve cholesky lu qr householder_product svd eigh eig schur hessenberg tridiagonal fft custom_linear_solve triangular-solve',
  elementwise:
    'abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp clz complex conj convert_element_type copy copy_p cos cosh digamma div eq erf erf_inv erfc exp exp2 expm1 floor ge gt igamma igammac imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter not or population_count pow real reduce_precision regularized_incomplete_beta rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square stop_gradient sub tan tanh xor zeta absolute abs cosine sine compare convert divide exponential exponential_minus_one exponential-minus-one log_plus_one log-plus-one maximum minimum multiply negate power remainder round_nearest_afz round-nearest-afz round_nearest_even round-nearest-even select subtract shift-left shift-right-arithmetic shift-right-logical logistic popcnt cbrt is-finite map clamp count-leading-zeros stochastic-convert',
  reduction:
    'argmax argmin reduce reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor reduce_window reduce_window_max reduce_window_min reduce_window_sum cumsum cumprod cummax cummin cumlogsumexp select_and_gather_add select_and_scatter_add sort top_k approx_top_k topk reduce-window select-and-scatter select_and_scatter reduce-precision',
  movement:
    'broadcast broadcast_in_dim bitcast_convert_type concatenate copy_start dynamic_slice dynamic_update_slice device_put empty expand_dims gather iota pad reshape rev scatter scatter_add scatter_mul scatter_min scatter_max slice split squeeze tile transpose optimization_barrier sharding_constraint mesh_cast reshard bitcast bitcast-convert dynamic-slice dynamic-update-slice reverse copy-start copy-done opt-barrier tuple get-tuple-element get_tuple_element constant dynamic_broadcast_in_dim custom_call_sharding',
  random:
    'random_bits random_seed random_split random_fold_in random_wrap random_unwrap random_clone random_gamma threefry2x32 rng_bit_generator rng_uniform rng rng-bit-generator rng-get-and-update-state',
  control:
    'jit pjit closed_call core_call eval_jaxpr call_hi_primitive remat checkpoint custom_jvp_call custom_vjp_call custom_vjp_call_jaxpr custom_lin scan while cond shard_map pallas_call run_state for xla_call pmap linear_call custom_partitioning call fusion conditional case if composite async-start async-done async-update manual_computation',
  communication:
    'all_gather all_gather_invariant all_reduce all_to_all ppermute psum psum2 psum_invariant pmax pmin pvary pcast psum_scatter reduce_scatter axis_index pgather ragged_all_to_all send recv all-gather all-reduce all-to-all collective-permute collective-broadcast reduce-scatter all-gather-start all-gather-done all-reduce-start all-reduce-done collective-permute-start collective-permute-done collective_permute partition-id replica-id partition_id replica_id ragged-all-to-all'
};

const familyOf = new Map<string, number>();
families.forEach(({ key }, index) => {
  for (const op of members[key]?.split(' ') ?? []) {
    familyOf.set(op, index);
  }
});

/** Which family tells most about a box that holds several operations. */
const STRENGTH = ['matmul', 'communication', 'random', 'reduction', 'elementwise', 'movement', 'other', 'control'].map(
  key => families.findIndex(one => one.key === key)
);
/** A row of more operations than this is a function, not an operation. */
const MAX_OPERATIONS = 12;

/** The family of a closed row: of a small one that of its strongest operation. */
export function familyOfRow(document: Document, graph: Graph, rows: Rows, row: number): number {
  const { first, end, role, count } = rows.outline;
  if (rows.operations[row] > MAX_OPERATIONS * count[row]) {
    return CONTROL;
  }
  let best = STRENGTH.length - 1;
  for (let node = first[row]; node < end[row]; node++) {
    if (graph.kind[node] === NodeKind.operation && role[node] === NodeRole.box) {
      const strength = STRENGTH.indexOf(family(document.strings[graph.op[node]]));
      best = Math.min(best, strength);
    }
  }
  return STRENGTH[best];
}

/** Of two families the one that tells more about what holds both. */
export function stronger(one: number, other: number): number {
  return STRENGTH.indexOf(one) <= STRENGTH.indexOf(other) ? one : other;
}

const CONTROL = families.findIndex(one => one.key === 'control');
const OTHER = families.findIndex(family => family.key === 'other');

/** Whether a name is that of an operation in the table. */
export function hasFamily(name: string): boolean {
  return familyOf.has(name);
}

/** Index into `families` for an operation's name. */
export function family(op: string): number {
  return familyOf.get(op) ?? OTHER;
}
