import { type Key, ofOrganization, record } from './key.ts';

/**
 * The part of the table's layout (keys.ts) for notifications.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `NC#<id>` | `NC` | notification configuration, with its last responses |
 * | `RUN#<id>`, `WS#<id>` | `TOLD#<notification configuration id>#<trigger>#<status>` | event that sends it, and whether it is done |
 * | `ORG#<name>` | `EMAILRECIPIENT#<sha-256>` | recipient: whether the address was verified, or unsubscribed |
 * | `EMAILTOKEN#<sha-256>` | `EMAILTOKEN` | → e-mail recipient, to verify the address or unsubscribe |
 * | `EMAILS#<organization>#<day>` | `COUNT` | number of e-mails sent that day |
 * | `ORG#<name>` | `SLACKAPP` | Slack app of the organization |
 * | | `SLACKUSER#<Slack workspace id>#<Slack user id>` | → user whose membership has this link |
 * | `SLACKAPP#<id>` | `SLACKAPP` | → organization of the Slack app, for the addresses that Slack calls |
 */
export const notificationKeys = {
  notification: record('NC'),
  told: (id: string, what: string): Key => ({ pk: `${id.startsWith('ws-') ? 'WS' : 'RUN'}#${id}`, sk: `TOLD#${what}` }),
  emailRecipient: (organization: string, hash: string) => ofOrganization(organization, `EMAILRECIPIENT#${hash}`),
  emailToken: record('EMAILTOKEN'),
  slackApp: (organization: string) => ofOrganization(organization, 'SLACKAPP'),
  slackUser: (organization: string, teamId: string, userId: string) =>
    ofOrganization(organization, `SLACKUSER#${teamId}#${userId}`),
  slackAppId: record('SLACKAPP'),
  emailCount: (organization: string, day: string): Key => ({ pk: `EMAILS#${organization}#${day}`, sk: 'COUNT' }),
};
