import type { Json, KubeObject } from '../object.js';

/** One column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown; above 0 only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: KubeObject, nowMs: number) => Json;
}
