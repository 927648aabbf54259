import type { Key } from './key.ts';

/**
 * The part of the table's layout that notifications have.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `NC#<id>` | `NC` | notification configuration, with the last answers it got |
 * | `RUN#<id>`, `WS#<id>` | `TOLD#<notification configuration id>#<trigger>#<status>` | which event tells it, and whether that is over |
 * | `ORG#<name>` | `EMAILRECIPIENT#<sha-256>` | address that notifications go to: whether it was verified, or unsubscribed |
 * | `EMAILTOKEN#<sha-256>` | `EMAILTOKEN` | → e-mail recipient who may verify an address or unsubscribe with it |
 * | `EMAILS#<organization>#<day>` | `COUNT` | how many e-mails were sent that day |
 */
export const notificationKeys = {
  notification: (id: string): Key => ({ pk: `NC#${id}`, sk: 'NC' }),
  told: (id: string, what: string): Key => ({ pk: `${id.startsWith('ws-') ? 'WS' : 'RUN'}#${id}`, sk: `TOLD#${what}` }),
  emailRecipient: (organization: string, hash: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `EMAILRECIPIENT#${hash}`,
  }),
  emailToken: (hash: string): Key => ({ pk: `EMAILTOKEN#${hash}`, sk: 'EMAILTOKEN' }),
  emailCount: (organization: string, day: string): Key => ({ pk: `EMAILS#${organization}#${day}`, sk: 'COUNT' }),
};
