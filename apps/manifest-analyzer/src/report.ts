import type { JsonValue } from '@gitops-reverser/kernel-api';
import { encodeYaml } from '@gitops-reverser/toolkit-yaml';
import { version } from './version.js';

export const reportApiVersion = 'manifestanalyzer.configbutler.ai/v1alpha1';

/** Who can clear a refusal; empty when nobody can with the present version. */
export type Actor = 'repository-author' | 'platform-operator' | '';

interface Generator {
  readonly name: 'manifest-analyzer';
  readonly version: string;
}

export interface ReportIssue {
  readonly kind: string;
  readonly path: string;
  readonly documentIndex: number;
  readonly message: string;
  readonly solvable: boolean;
  readonly actor?: Actor;
}

export interface RetainedDocument {
  readonly path: string;
  readonly documentIndex: number;
  readonly unsupported?: true;
}

export interface FolderReport {
  readonly apiVersion: typeof reportApiVersion;
  readonly kind: 'FolderReport';
  readonly spec: { readonly root?: string; readonly mode: 'scan-folder' };
  readonly status: {
    readonly generator: Generator;
    readonly accepted: boolean;
    readonly issues: readonly ReportIssue[];
    readonly retained: readonly RetainedDocument[];
  };
}

export type CandidateLayout = 'plain' | 'kustomize-single' | 'kustomize-overlay' | 'refused-structural';

export interface RefusalReason {
  readonly code: string;
  readonly detail: string;
  readonly solvable: boolean;
  readonly actor?: Actor;
}

export interface Candidate {
  /** From the top, `.` for the top itself. */
  readonly path: string;
  readonly layout: CandidateLayout;
  /** The gate's verdict on this folder as `spec.path` of a target. */
  readonly acceptedByOperator: boolean;
  readonly refusalReasons?: readonly RefusalReason[];
  readonly renderRoot: boolean;
  readonly readScope?: readonly string[];
  readonly readBy?: readonly string[];
  readonly inferredNamespace?: string;
  readonly resources: {
    readonly rendered: number;
    readonly editable: number;
    readonly nonKrm: number;
    readonly encrypted?: number;
  };
  readonly renderedTypes: {
    readonly byNamespace?: Readonly<Record<string, readonly string[]>>;
    readonly namespaceUndeclared?: readonly string[];
  };
  readonly overlapsWith?: readonly string[];
}

export interface RepoReport {
  readonly apiVersion: typeof reportApiVersion;
  readonly kind: 'RepoReport';
  readonly spec: { readonly root?: string; readonly mode: 'scan-repo' };
  readonly status: {
    readonly generator: Generator;
    readonly candidates: readonly Candidate[];
    readonly summary: {
      readonly candidatesByLayout: Readonly<Partial<Record<CandidateLayout, number>>>;
      readonly accepted: number;
      readonly refused: number;
      readonly overlapConflicts?: readonly { readonly ancestor: string; readonly descendant: string }[];
      readonly readEdges?: readonly { readonly from: string; readonly to: string }[];
      readonly unsupportedConstructs?: readonly string[];
    };
  };
}

export const generator = (): Generator => ({ name: 'manifest-analyzer', version: version() });

/** Indented by two, with a final line feed. */
export function toJSON(report: FolderReport | RepoReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** The same document in the style of everything this project writes. */
export function toYAML(report: FolderReport | RepoReport): string {
  const encoded = encodeYaml(report as unknown as JsonValue);
  if (!encoded.ok) throw new Error(encoded.error.message);
  return encoded.value;
}
