import { editToJson, renderFileEdit, renderFolderModel, renderScans, type EditResult } from './report.js';

const scanned = { ms: 5_000, cpuMs: 4_500, peakMiB: 100 };
const result: EditResult = {
  file: {
    documents: 1_000,
    fileBytes: 481_226,
    samplesMs: [1, 1.5, 9],
    p50Ms: 1.5,
    p50CpuMs: 1.4,
    p99Ms: 9,
    modelP50Ms: 0.4,
    rivalP50Ms: 300,
    rivalOtherLines: 4_000,
  },
  model: {
    files: 10_000,
    documents: 11_000,
    coldMs: [900, 800, 1_100],
    coldCpuMs: [950, 950, 950],
    againMs: [300, 300, 300],
    warmMs: [1, 2, 3],
    peakMiB: 151.2,
    diskMs: [1_000, 1_000, 1_000],
    diskPeakMiB: 50,
    rivalMs: 9_000,
    rivalPeakMiB: 60,
  },
  scans: {
    repo: [
      { ...scanned, entries: 10_000, peakMiB: 60 },
      { ...scanned, entries: 50_000 },
    ],
    folder: { ...scanned, entries: 50_000 },
    rivalMs: 20_000,
    rivalPeakMiB: 80,
  },
};

it('prints each figure beside its gate', () => {
  expect(renderFileEdit(result.file)).toContain('p50 1.50 ms  (gate 2 ms: met)');
  expect(renderFolderModel(result.model)).toContain('p50 0.90 s  (gate 1 s: met)');
  expect(renderFolderModel(result.model)).toContain('151 MiB  (gate 150 MiB: missed)');
});

it('says how much a further file costs the analyzer, and what the library takes', () => {
  const text = renderScans(result.scans);

  expect(text).toContain('memory per further file 1.0 KiB');
  expect(text).toContain('20.00 s, 4.0 times ours');
});

it('writes the figures for machines', () => {
  expect(editToJson(result)).toEqual({
    file: { p50Ms: 1.5, p50CpuMs: 1.4, p99Ms: 9, modelP50Ms: 0.4, yamlP50Ms: 300 },
    model: {
      ...{ seconds: 0.9, cpuSeconds: 0.95, againSeconds: 0.3, changedP50Ms: 2, peakMiB: 151.2 },
      ...{ diskSeconds: 1, yamlSeconds: 9 },
    },
    analyzer: {
      ...{ scanRepoSeconds: 5, scanFolderSeconds: 5, scanFolderPeakMiB: 100, yamlSeconds: 20, yamlPeakMiB: 80 },
      scanRepoPeakMiB: [
        { entries: 10_000, peakMiB: 60 },
        { entries: 50_000, peakMiB: 100 },
      ],
    },
  });
});
