import { refuse } from '../status.js';

/** In which form objects go back. */
export type Form = 'json' | 'table' | 'partial';

export interface MediaRange {
  readonly type: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export function parseAccept(header: string | undefined): readonly MediaRange[] {
  return (header ?? '')
    .split(',')
    .map((part) => {
      const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
      return {
        type: type.toLowerCase(),
        parameters: Object.fromEntries(
          parameters.map((parameter) => {
            const [key = '', ...value] = parameter.split('=');
            return [key.trim(), value.join('=').trim()];
          }),
        ),
      };
    })
    .filter((range) => range.type !== '');
}

const json = new Set(['application/json', 'application/*', '*/*']);

/** The first form of the list that this server speaks. Protobuf and CBOR answers are not among them. */
export function negotiate(header: string | undefined): Form {
  const ranges = parseAccept(header);
  if (ranges.length === 0) return 'json';
  for (const { type, parameters } of ranges) {
    if (!json.has(type)) continue;
    const as = parameters['as'];
    if (as === undefined) return 'json';
    if (parameters['g'] !== 'meta.k8s.io' || parameters['v'] !== 'v1') continue;
    if (as === 'Table') return 'table';
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList') return 'partial';
  }
  throw refuse.notAcceptable(['application/json']);
}
