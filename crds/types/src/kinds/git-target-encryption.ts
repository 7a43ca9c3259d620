import { rule } from '../schema/rule.js';
import { block, boolean, object, oneOf, optional, set, string, withDefault } from '../schema/schema.js';
import { secretRef } from '../schema/shapes.js';

const agePublicKey = string('Recipient.', { max: 62, pattern: '^age1[ac-hj-np-z02-9]{58}$' });

/** Who can read what is sensitive (chapter 10, 4.4). */
export const encryption = object(
  'How sensitive objects are encrypted. There is no way to write them in clear.',
  {
    provider: withDefault(
      string('Writer plugin that encrypts; only `sops` ships.', {
        min: 1,
        max: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      }),
      'sops',
    ),
    secretRef: optional(
      secretRef('Secret with age identities, in the namespace of this object. Never needed to write.'),
    ),
    age: block(
      object('age recipients.', {
        enabled: withDefault(boolean('Use age; without it there are no recipients.'), false),
        recipients: block(
          object(
            'Who can read.',
            {
              publicKeys: withDefault(set('Recipients, by public key.', agePublicKey, { max: 64 }), []),
              extractFromSecret: withDefault(
                boolean('Derive recipients from every *.agekey entry of the Secret.'),
                false,
              ),
              generateWhenMissing: withDefault(
                boolean('Create the Secret with a fresh identity when it is missing.'),
                false,
              ),
            },
            {
              rules: [
                rule<{ readonly generateWhenMissing?: boolean; readonly extractFromSecret?: boolean }>({
                  id: 'GT-6',
                  cel: '!has(self.generateWhenMissing) || !self.generateWhenMissing || (has(self.extractFromSecret) && self.extractFromSecret)',
                  message: 'spec.encryption.age.recipients: generateWhenMissing needs extractFromSecret: true',
                  fieldPath: '.generateWhenMissing',
                  holds: (self) => self.generateWhenMissing !== true || self.extractFromSecret === true,
                }),
              ],
            },
          ),
        ),
      }),
    ),
    recipientsFrom: withDefault(
      oneOf('Who decides the readers: this target, or the repository.', ['Target', 'Repository']),
      'Target',
    ),
    encryptedRegex: withDefault(
      string('RE2 expression of the keys whose values are encrypted; may widen, never to nothing.', {
        min: 1,
        max: 512,
      }),
      '^(data|stringData)$',
    ),
  },
  {
    rules: [
      rule<{
        readonly age?: { readonly recipients?: { readonly extractFromSecret?: boolean } };
        readonly secretRef?: unknown;
      }>({
        id: 'GT-7',
        cel: '!(has(self.age) && has(self.age.recipients) && has(self.age.recipients.extractFromSecret) && self.age.recipients.extractFromSecret) || has(self.secretRef)',
        message: 'spec.encryption.age.recipients.extractFromSecret: true needs spec.encryption.secretRef',
        fieldPath: '.secretRef',
        reason: 'FieldValueRequired',
        holds: (self) => self.age?.recipients?.extractFromSecret !== true || self.secretRef !== undefined,
      }),
    ],
  },
);
