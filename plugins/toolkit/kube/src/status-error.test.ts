import { toEventError, toStatusError, withoutValues } from './status-error.js';

const now = new Date('2026-01-01T00:00:00Z');

describe('FC-SEC-4: values the API server quotes stay out of messages', () => {
  it.each([
    [
      'spec.port: Invalid value: 99999: must be between 1 and 65535',
      'spec.port: Invalid value: must be between 1 and 65535',
    ],
    ['data[a]: Invalid value: "s3cret: \\"x\\"": must be short', 'data[a]: Invalid value: must be short'],
    [
      'spec.template: Invalid value: core.PodTemplateSpec{Spec:core.PodSpec{Env:[]core.EnvVar{core.EnvVar{Value:"s3cret"}}}}: field is immutable',
      'spec.template: Invalid value: field is immutable',
    ],
    ['spec: Invalid value: {"password":"s3cret: }"}: no', 'spec: Invalid value: no'],
    [
      'spec.type: Unsupported value: "s3cret": supported values: "A", "B"',
      'spec.type: Unsupported value: supported values: "A", "B"',
    ],
    ['[a: Duplicate value: "s3cret", b: Required value: say it]', '[a: Duplicate value: , b: Required value: say it]'],
    ['spec: Invalid value: {"cut": "s3cret', 'spec: Invalid value: '],
    [
      'spec.list: Invalid value: []core.Container{core.Container{Name:"s3cret"}}: too many',
      'spec.list: Invalid value: too many',
    ],
    [
      'Get "https://ann:s3cret@api.test/x": Authorization: Bearer s3cret.s3cret',
      'Get "https://***@api.test/x": Authorization: Bearer ***',
    ],
  ])('%s', (message, kept) => {
    expect(withoutValues(message)).toBe(kept);
  });
});

it('keeps code, reason, causes and the wait the server asks for', () => {
  const details = {
    name: 'a',
    retryAfterSeconds: 7,
    causes: [{ reason: 'FieldValueInvalid', field: 'spec.x', message: 'Invalid value: "s3cret"' }],
  };
  const error = toStatusError(
    { code: 422, asked: 'POST /x on https://api', now },
    { kind: 'Status', code: 422, reason: 'Invalid', message: 'x is bad', details },
  );

  expect(error).toMatchObject({
    code: 422,
    reason: 'Invalid',
    retry: 'when-changed',
    retryAfterSeconds: 7,
    causes: [{ reason: 'FieldValueInvalid', field: 'spec.x' }],
  });
  expect(error.message).toBe('POST /x on https://api: x is bad');
  expect(JSON.stringify(error.details)).not.toContain('s3cret');
});

it.each([
  { header: '12', seconds: 12 },
  { header: 'Thu, 01 Jan 2026 00:00:30 GMT', seconds: 30 },
  { header: 'soon', seconds: undefined },
])('reads Retry-After: $header', ({ header, seconds }) => {
  expect(toStatusError({ code: 429, asked: 'GET /x', retryAfter: header, now }, undefined)).toMatchObject({
    reason: 'TooManyRequests',
    retryAfterSeconds: seconds,
  });
});

it('an answer that is no Status is named by its code, and its text is not repeated', () => {
  const error = toStatusError({ code: 502, asked: 'GET /x', now }, '<html>s3cret</html>');

  expect(error).toMatchObject({ reason: 'InternalError', message: 'GET /x: the server answered 502' });
});

it('an ERROR event carries its own code', () => {
  const object = { kind: 'Status', message: 'too old resource version: 1 (22065)', reason: 'Expired', code: 410 };

  expect(toEventError('watch /x', object, now)).toMatchObject({
    code: 410,
    reason: 'Expired',
    message: 'watch /x: too old resource version: 1 (22065)',
  });
});

it('a long message is cut to what a condition holds', () => {
  expect(
    toStatusError({ code: 500, asked: 'GET /x', now }, { kind: 'Status', message: 'y'.repeat(5000) }).message,
  ).toHaveLength(1024);
});
