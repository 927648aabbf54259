import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { type Api, uniqueName } from './api.ts';

/** Helpers for tests of policies. */

type Entry = string | { type: 'symlink' | 'link'; linkname: string };

/** A gzip tar of the files. */
export const archive = async (files: Record<string, Entry>): Promise<Buffer> => {
  const tar = pack();
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === 'string') tar.entry({ name }, content);
    else tar.entry({ name, ...content });
  }
  tar.finalize();
  const parts: Buffer[] = [];
  for await (const part of tar as AsyncIterable<Buffer>) parts.push(part);
  return gzipSync(Buffer.concat(parts));
};

/** The files of a policy set with one policy and the given rule. */
export const policyFiles = (rule: string, level = 'mandatory'): Record<string, string> => ({
  'policies.hcl': `policy "sizes" {\n  query = "data.terraform.sizes.deny"\n  enforcement_level = "${level}"\n  description = "No large machines"\n}\n`,
  'sizes.rego': `package terraform.sizes\n${rule}\n`,
});

/** Uploads a version to its upload link, like clients. Returns its document. */
export const uploadVersion = async (api: Api, policySetId: string, content: Uint8Array<ArrayBuffer>) => {
  const version = (await api.post(`policy-sets/${policySetId}/versions`)).body.data;
  const put = await fetch(version.links.upload, { method: 'PUT', body: content });
  if (!put.ok) throw new Error(`upload: HTTP ${put.status}`);
  return (await api.get(`policy-set-versions/${version.id}`)).body.data;
};

/** A policy set with a version of the files. Returns its id. */
export const policySetOf = async (
  api: Api,
  attributes: object,
  files: Record<string, Entry>,
  relationships: object = {},
  organization = 'acme',
): Promise<string> => {
  const all = `organizations/${organization}/policy-sets`;
  const response = await api.post(all, { name: uniqueName('set'), kind: 'opa', ...attributes }, relationships);
  if (response.status !== 201) throw new Error(JSON.stringify(response.body));
  await uploadVersion(api, response.body.data.id, new Uint8Array(await archive(files)));
  return response.body.data.id;
};

/** One of each kind, by path parameter. */
export const policyThings = async (api: Api, organization = 'acme') => {
  const name = uniqueName('policy');
  const policy = (await api.post(`organizations/${organization}/policies`, { name, kind: 'opa', query: 'data.a.deny' }))
    .body.data;
  const policySet = await policySetOf(api, {}, policyFiles('deny := []'), {}, organization);
  const version = (await api.get(`policy-sets/${policySet}`)).body.data.relationships['newest-version'].data;
  const parameter = (await api.post(`policy-sets/${policySet}/parameters`, { key: 'a', value: 'b' })).body.data;
  return { policy: policy.id, policySet, policySetVersion: version.id, parameter: parameter.id };
};

/** Ids of a run's policy results. */
export const policyResultIds = async (runId: string) => {
  const results = await import('#resources/policies/result-records.ts');
  const { policyCheckId } = await import('#run/policy-status.ts');
  const { taskStageId } = await import('#run/task-stages.ts');
  return {
    check: policyCheckId(runId),
    evaluation: results.policyEvaluationId(runId),
    policySetOutcome: results.policySetOutcomeId(runId, 0),
    stage: taskStageId(runId, 'post_plan'),
  };
};
