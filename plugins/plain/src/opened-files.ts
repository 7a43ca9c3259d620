import type { KubeObject, Refusal, Result } from '@gitops-reverser/kernel-api';
import { withDocumentText, type Edited, type SplitText } from '@gitops-reverser/toolkit-yaml';
import { openFile } from './documents.js';

/** An edit that a layout made to see whether anything changes. */
interface PlannedEdit {
  readonly bytes: Uint8Array;
  readonly file: SplitText;
  readonly index: number;
  readonly edited: Edited;
}

/**
 * What a layout does to judge an edit and its writer must do again to make it: opening the file, and the edit itself. Both are
 * taken over only for the very same bytes, so a file that changed in between is opened and edited anew.
 */
export class OpenedFiles {
  private readonly fileByBytes = new Map<Uint8Array, SplitText>();
  private readonly editByObject = new WeakMap<KubeObject, PlannedEdit>();
  private readonly maxBytes: number;
  private totalBytes = 0;

  /** @param maxBytes of the files held; their texts take as much again, or twice */
  constructor(maxBytes = 8 * 1024 * 1024) {
    this.maxBytes = maxBytes;
  }

  open(path: string, bytes: Uint8Array): Result<SplitText, Refusal> {
    const known = this.fileByBytes.get(bytes);
    if (known !== undefined) return { ok: true, value: known };
    const opened = openFile(path, bytes);
    if (opened.ok) this.keep(bytes, opened.value);
    return opened;
  }

  /** The bytes of a file with one document edited, which whoever comes next need not open again. */
  edited(before: Uint8Array, { file, index, edited }: Omit<PlannedEdit, 'bytes'>): Uint8Array {
    if (edited.outcome === 'unchanged') return before;
    const { byteStart = 0, byteEnd = before.length } = file.pieces[index] ?? {};
    const document = Buffer.from(edited.document);
    const bytes = Buffer.concat([before.subarray(0, byteStart), document, before.subarray(byteEnd)]);
    this.keep(bytes, withDocumentText(file, index, edited.document));
    return bytes;
  }

  /** @param object the very one that the step will carry */
  plan(object: KubeObject, edit: PlannedEdit): void {
    this.editByObject.set(object, edit);
  }

  planned(object: KubeObject, bytes: Uint8Array): PlannedEdit | undefined {
    const edit = this.editByObject.get(object);
    return edit?.bytes === bytes ? edit : undefined;
  }

  private keep(bytes: Uint8Array, file: SplitText): void {
    if (bytes.length > this.maxBytes) return;
    this.fileByBytes.set(bytes, file);
    this.totalBytes += bytes.length;
    for (const oldest of this.fileByBytes.keys()) {
      if (this.totalBytes <= this.maxBytes) return;
      this.fileByBytes.delete(oldest);
      this.totalBytes -= oldest.length;
    }
  }
}
