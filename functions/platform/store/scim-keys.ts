import { foldCase } from './fold-case.ts';
import { type Key, ofTeam, record } from './key.ts';

const ofConfiguration = (id: string, sk: string): Key => ({ pk: `SCIM#${id}`, sk });

/**
 * The part of the table's layout (keys.ts) for provisioning by a directory (resources/scim/).
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `SCIMCONF#<id>` | `SCIMCONF` | SCIM configuration of an organization |
 * | `SCIMUSER#<id>` | `SCIMUSER` | provisioned user: what the directory sent, → user |
 * | `SCIM#<configuration id>` | `USERNAME#<lower case>` | → provisioned user; unique names, and lists |
 * | | `USEREMAIL#<lower case>` | → provisioned user; unique addresses |
 * | | `USEREXT#<sha-256>#<id>` | → provisioned user with this external id |
 * | | `GROUPNAME#<lower case>` | → team that the group manages; unique names, and lists |
 * | | `GROUPEXT#<sha-256>#<id>` | → team of the group with this external id |
 * | `TEAM#<id>` | `SCIMMEMBERS` | ids of the provisioned users in the team's group |
 */
export const scimKeys = {
  scimConfiguration: record('SCIMCONF'),
  scimUser: record('SCIMUSER'),
  scimUserName: (configuration: string, name: string) => ofConfiguration(configuration, `USERNAME#${foldCase(name)}`),
  scimUserEmail: (configuration: string, email: string) =>
    ofConfiguration(configuration, `USEREMAIL#${foldCase(email)}`),
  scimGroupName: (configuration: string, name: string) => ofConfiguration(configuration, `GROUPNAME#${foldCase(name)}`),
  scimMembers: (teamId: string) => ofTeam(teamId, 'SCIMMEMBERS'),
  scimExternalId: (configuration: string, type: 'USER' | 'GROUP', hash: string, id: string) =>
    ofConfiguration(configuration, `${type}EXT#${hash}#${id}`),
};
