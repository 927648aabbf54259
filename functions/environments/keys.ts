import { foldCase as lower } from '#platform/store/fold-case.ts';
import { type Key, padded } from '#platform/store/keys.ts';

/**
 * Items of environments in the table.
 *
 * | pk | sk | item |
 * |---|---|---|
 * | `ENVFILE#<id>` | `ENVFILE` | uploaded archive of a template |
 * | `USER#<id>` | `ENVFILE#<sha-256>` | → file uploaded by the user |
 * | `TPL#<id>` | `TPL` | template |
 * | | `VERSION#<created at>#<id>` | → version, for lists |
 * | | `VERSIONNAME#<lower case>` | → version; the uniqueness of names |
 * | | `ENV#<id>` | → environment created from it, unless deleted |
 * | | `PREBUILD#<created at>#<id>` | → unclaimed environment of a pool |
 * | | `POOL#<preset id>` | state of a preset's pool |
 * | `ORG#<name>` | `PREBUILDS` | whether pools are paused |
 * | | `ENVQUOTAS` | daily quotas of teams and users |
 * | | `METRIC#<name>#<labels>` | counts since a scrape |
 * | | `TPLNAME#<lower case>` | → template; the uniqueness of names, and lists |
 * | | `ENV#<id>` | → environment, unless deleted; lists |
 * | | `TPLDELETED#<id>` | → deleted template |
 * | | `ENVDELETED#<id>` | → deleted environment |
 * | | `TPLVERSION#<id>` | → version that belongs to no template |
 * | | `TPLIMPORTS` | → workspace for importing versions without a template |
 * | `TPLVERSION#<id>` | `TPLVERSION` | version of a template |
 * | | `FOUND` | results of its import |
 * | | `DRYRUN#<id>` | dry run |
 * | `ENV#<id>` | `ENV` | environment |
 * | | `BUILD#<number>` | → build |
 * | `ENVOWNER#<user id>` | `NAME#<lower case>` | → environment; the uniqueness of names, and lists |
 * | | `DELETEDNAME#<lower case>` | → environment with that name that was deleted last |
 * | | `FAVORITE#<id>` | marks the environment as a favorite |
 * | | `QUOTA#<organization>` | expected costs of the owner's current builds |
 * | `ENVBUILD#<id>` | `ENVBUILD` | build |
 * | `ENVTICKET#<sha-256>` | `ENVTICKET` | right to follow the log of one job, once |
 */
export const keys = {
  file: (id: string): Key => ({ pk: `ENVFILE#${id}`, sk: 'ENVFILE' }),
  fileOfUser: (userId: string, sha256: string): Key => ({ pk: `USER#${userId}`, sk: `ENVFILE#${sha256}` }),
  template: (id: string): Key => ({ pk: `TPL#${id}`, sk: 'TPL' }),
  templateName: (organization: string, name: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `TPLNAME#${lower(name)}`,
  }),
  deletedTemplate: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `TPLDELETED#${id}` }),
  deletedEnvironment: (organization: string, id: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `ENVDELETED#${id}`,
  }),
  looseVersion: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `TPLVERSION#${id}` }),
  imports: (organization: string): Key => ({ pk: `ORG#${organization}`, sk: 'TPLIMPORTS' }),
  versionOfTemplate: (templateId: string, createdAt: string, id: string): Key => ({
    pk: `TPL#${templateId}`,
    sk: `VERSION#${createdAt}#${id}`,
  }),
  versionName: (templateId: string, name: string): Key => ({
    pk: `TPL#${templateId}`,
    sk: `VERSIONNAME#${lower(name)}`,
  }),
  version: (id: string): Key => ({ pk: `TPLVERSION#${id}`, sk: 'TPLVERSION' }),
  found: (versionId: string): Key => ({ pk: `TPLVERSION#${versionId}`, sk: 'FOUND' }),
  dryRun: (versionId: string, id: string): Key => ({ pk: `TPLVERSION#${versionId}`, sk: `DRYRUN#${id}` }),
  environment: (id: string): Key => ({ pk: `ENV#${id}`, sk: 'ENV' }),
  environmentOfTemplate: (templateId: string, id: string): Key => ({ pk: `TPL#${templateId}`, sk: `ENV#${id}` }),
  environmentIn: (organization: string, id: string): Key => ({ pk: `ORG#${organization}`, sk: `ENV#${id}` }),
  environmentName: (ownerId: string, name: string): Key => ({ pk: `ENVOWNER#${ownerId}`, sk: `NAME#${lower(name)}` }),
  deletedEnvironmentName: (ownerId: string, name: string): Key => ({
    pk: `ENVOWNER#${ownerId}`,
    sk: `DELETEDNAME#${lower(name)}`,
  }),
  favorite: (ownerId: string, id: string): Key => ({ pk: `ENVOWNER#${ownerId}`, sk: `FAVORITE#${id}` }),
  build: (id: string): Key => ({ pk: `ENVBUILD#${id}`, sk: 'ENVBUILD' }),
  buildNumber: (environmentId: string, n: number): Key => ({ pk: `ENV#${environmentId}`, sk: `BUILD#${padded(n)}` }),
  prebuild: (templateId: string, createdAt: string, id: string): Key => ({
    pk: `TPL#${templateId}`,
    sk: `PREBUILD#${createdAt}#${id}`,
  }),
  pool: (templateId: string, presetId: string): Key => ({ pk: `TPL#${templateId}`, sk: `POOL#${presetId}` }),
  metric: (organization: string, metric: string, labels: string): Key => ({
    pk: `ORG#${organization}`,
    sk: `METRIC#${metric}#${labels}`,
  }),
  prebuildSettings: (organization: string): Key => ({ pk: `ORG#${organization}`, sk: 'PREBUILDS' }),
  quotas: (organization: string): Key => ({ pk: `ORG#${organization}`, sk: 'ENVQUOTAS' }),
  quotaLedger: (ownerId: string, organization: string): Key => ({
    pk: `ENVOWNER#${ownerId}`,
    sk: `QUOTA#${organization}`,
  }),
  ticket: (hash: string): Key => ({ pk: `ENVTICKET#${hash}`, sk: 'ENVTICKET' }),
};
