import { isIP } from 'node:net';

const dateTime = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const goDuration =
  /^[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*)$/;

/** The formats the API server checks; unknown ones are ignored, as there. */
export const formatChecks: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) => dateTime.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(value)),
  duration: (value) => goDuration.test(value) || /^[0-9]+ (week|day|hour|minute|second)s?$/.test(value),
  byte: (value) => /^[A-Za-z0-9+/\r\n]*={0,2}$/.test(value),
  email: (value) => /^[^\s@]+@[^\s@]+$/.test(value),
  hostname: (value) =>
    value.length <= 253 &&
    /^([A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)(\.[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?)*$/.test(value),
  ipv4: (value) => isIP(value) === 4,
  ipv6: (value) => isIP(value) === 6,
  cidr: (value) => isCidr(value),
  uri: (value) => URL.canParse(value),
  uuid: (value) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(value),
};

function isCidr(value: string): boolean {
  const [address = '', bits = ''] = value.split('/');
  const kind = isIP(address);
  return kind !== 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128);
}
