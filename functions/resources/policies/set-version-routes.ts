import { type Answer, created, ok } from '#api/answer.ts';
import { conflict, deletedMeanwhile, keyTaken, notFound, unprocessable } from '#api/errors.ts';
import { versionGuard, withEtag } from '#api/guard.ts';
import { list, pageFrom, pageOf } from '#api/pagination.ts';
import { type Context, noContentAfter, type Route, route } from '#api/route.ts';
import { createLimited } from '#platform/store/limited.ts';
import {
  createVariable,
  deleteVariable,
  getVariable,
  listVariables,
  updateVariable,
  type Variable,
} from '#resources/variables/records.ts';
import { compilePolicies } from './compilation.ts';
import { parameterDocument, policySetVersionDocument } from './document.ts';
import { policySet, policySetVersion } from './finder.ts';
import { readNewParameter, readParameterChange } from './input.ts';
import type { PolicySet } from './set-records.ts';
import {
  checkPolicyUpload,
  createPolicySetVersion,
  listPolicySetVersions,
  type PolicySetVersion,
  policyUploadUrl,
} from './set-version-records.ts';

/** Versions and parameters of policy sets. */

const createVersion = async ({ subject }: Context<PolicySet>): Promise<Answer> => {
  if (subject.vcsRepo) {
    throw unprocessable(
      '/data',
      `Policy set ${subject.name} takes its versions from ${subject.vcsRepo.identifier}: push a commit there, or disconnect it first (vcs-repo: null)`,
    );
  }
  if (subject.policyIds?.size) {
    throw conflict(
      `Policy set ${subject.name} has individually managed policies. Remove them before you upload versions.`,
    );
  }
  const version = await createPolicySetVersion(subject);
  if (!version) throw deletedMeanwhile('policy set');
  const uploadUrl = await policyUploadUrl(version);
  return created(policySetVersionDocument(version, uploadUrl));
};

/** Clients poll this route until their upload is processed. */
const readVersion = async ({ subject, granted }: Context<PolicySetVersion>): Promise<Answer> => {
  const version = await checkPolicyUpload(subject, compilePolicies);
  // The upload URL authorizes an upload by itself, so readers do not get it.
  const mayUpload = version.status === 'pending' && granted.has('policy:write');
  return ok(policySetVersionDocument(version, mayUpload ? await policyUploadUrl(version) : undefined));
};

const listVersions = async ({ request, subject }: Context<PolicySet>): Promise<Answer> => {
  const page = pageOf(request);
  const { items, total } = await listPolicySetVersions(subject.id, page);
  const data = items.map((version) => policySetVersionDocument(version));
  return list(request, page, total, data);
};

const maxParameters = 100;

const createParameter = async ({ request, subject }: Context<PolicySet>): Promise<Answer> => {
  const values = readNewParameter(request);
  const limit = {
    max: maxParameters,
    count: async () => (await listVariables(subject.id)).length,
    full: () => unprocessable('/data', `a policy set has at most ${maxParameters} parameters`),
  };
  const parameter = await createLimited(limit, () => createVariable(subject.id, values), deleteVariable);
  if (!parameter) throw keyTaken();
  return created(parameterDocument(parameter));
};

const find = async ({ request, subject }: Context<PolicySet>): Promise<Variable> => {
  const parameter = await getVariable(subject.id, request.params.parameter ?? '');
  if (!parameter) throw notFound(`Parameter not found in policy set ${subject.name}.`);
  return parameter;
};

const shown = (parameter: Variable): Answer => withEtag(ok(parameterDocument(parameter)), parameter);

const updateParameter = async (context: Context<PolicySet>): Promise<Answer> => {
  const parameter = await find(context);
  const change = (current: Variable) => readParameterChange(context.request, current);
  const updated = await updateVariable(parameter, await versionGuard(context, parameter, 'parameter', change));
  if (!updated) throw keyTaken();
  return shown(updated);
};

const removeParameter = noContentAfter(async (_: PolicySet, context) => deleteVariable(await find(context)));

const byAge = (a: Variable, b: Variable): number => (a.createdAt < b.createdAt ? -1 : 1);

const listParameters = async ({ request, subject }: Context<PolicySet>): Promise<Answer> => {
  const all = (await listVariables(subject.id)).sort(byAge);
  return pageFrom(request, all, parameterDocument);
};

const base = '/policy-sets/{policySet}';
const parameters = `${base}/parameters` as const;

export const policySetVersionRoutes: Route[] = [
  route('GET', `${base}/versions`, 'policy:read', policySet, listVersions),
  route('POST', `${base}/versions`, 'policy:write', policySet, createVersion),
  route('GET', '/policy-set-versions/{policySetVersion}', 'policy:read', policySetVersion, readVersion),
  route('GET', parameters, 'policy:read', policySet, listParameters),
  route('POST', parameters, 'policy:write', policySet, createParameter),
  route('GET', `${parameters}/{parameter}`, 'policy:read', policySet, async (context) => shown(await find(context))),
  route('PATCH', `${parameters}/{parameter}`, 'policy:write', policySet, updateParameter),
  route('DELETE', `${parameters}/{parameter}`, 'policy:write', policySet, removeParameter),
];
