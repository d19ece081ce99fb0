/** A generated graph as jaxviz lays it out. */
import { Pin, type LayoutInput } from '../../labextension/src/layout/input.ts';
import type { BenchGraph } from './graphs.ts';

/** `ports`: operands meet their box left to right in their order; in its middle otherwise. */
export function toInput(graph: BenchGraph, ports: boolean): LayoutInput {
  return {
    parent: new Int32Array(graph.count).fill(-1),
    width: graph.width,
    height: graph.height,
    left: new Float64Array(graph.count),
    right: new Float64Array(graph.count),
    group: new Uint8Array(graph.count),
    pin: new Uint8Array(graph.count).fill(Pin.free),
    source: graph.source,
    target: graph.target,
    sourcePort: new Int32Array(graph.source.length),
    targetPort: ports ? graph.port : new Int32Array(graph.source.length)
  };
}
