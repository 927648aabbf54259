import { createHash } from 'node:crypto';
import { environment } from '#platform/environment.ts';
import type { FrozenVariable } from '#resources/runs/inputs.ts';
import { uuidOf } from '../host/uuid.ts';
import { environmentVariable } from '../runs.ts';
import type { Template } from '../templates/records.ts';
import { frozenVariables, startCount } from '../templates/variables.ts';
import type { Version } from '../templates/versions.ts';
import type { Environment } from '../workspaces/records.ts';
import type { Value } from './parameters.ts';
import type { Build, Transition } from './records.ts';

/** Environment variables that the provider coder/coder reads (terraform-provider-coder: provider/). */

const transitions: Record<Transition, string> = { start: 'start', stop: 'stop', delete: 'destroy' };

const systems = ['linux', 'darwin', 'windows'];
const architectures = ['amd64', 'arm64', 'armv7'];

const hash = (name: string): string => createHash('sha256').update(name).digest('hex');

/** Variable names contain hashes, because parameters can have any name. */
export const parameterVariables = (values: readonly Value[], previous: readonly Value[] = []): FrozenVariable[] => [
  ...values.map(({ name, value }) => environmentVariable(`CODER_PARAMETER_${hash(name)}`, value)),
  ...previous.map(({ name, value }) => environmentVariable(`CODER_PARAMETER_PREVIOUS_${hash(name)}`, value)),
];

export interface Owner {
  id: string;
  username: string;
  email: string;
}

/** For an import, a dry run or a build. Leaves out a token of the owner, which would become part of the state. */
export const ownerVariables = (transition: Transition, owner: Owner, workspaceName: string): FrozenVariable[] => {
  const all: Record<string, string> = {
    CODER_AGENT_URL: environment.environmentsUrl,
    CODER_WORKSPACE_TRANSITION: transitions[transition],
    CODER_WORKSPACE_NAME: workspaceName,
    CODER_WORKSPACE_OWNER: owner.username,
    CODER_WORKSPACE_OWNER_ID: uuidOf(owner.id),
    CODER_WORKSPACE_OWNER_NAME: owner.username,
    CODER_WORKSPACE_OWNER_EMAIL: owner.email,
    CODER_WORKSPACE_OWNER_GROUPS: '["Everyone"]',
    CODER_WORKSPACE_OWNER_RBAC_ROLES: '[]',
    CODER_WORKSPACE_OWNER_LOGIN_TYPE: 'token',
    ...Object.fromEntries(
      systems.flatMap((system) =>
        architectures.map((architecture) => [`CODER_AGENT_SCRIPT_${system}_${architecture}`, '#']),
      ),
    ),
  };
  return Object.entries(all).map(([key, value]) => environmentVariable(key, value));
};

export interface Setting {
  build: Build;
  environment: Environment;
  template: Template;
  version: Version;
  owner: Owner;
  previous: readonly Value[];
}

export const buildVariables = (setting: Setting): FrozenVariable[] => {
  const { build, environment: of, template, version, owner, previous } = setting;
  const isStart = build.transition === 'start';
  return [
    ...ownerVariables(build.transition, owner, of.name),
    environmentVariable('CODER_WORKSPACE_ID', of.id),
    environmentVariable('CODER_WORKSPACE_BUILD_ID', build.id),
    environmentVariable('CODER_WORKSPACE_TEMPLATE_ID', template.id),
    environmentVariable('CODER_WORKSPACE_TEMPLATE_NAME', template.name),
    environmentVariable('CODER_WORKSPACE_TEMPLATE_VERSION', version.name),
    ...(build.prebuild === 'pool' ? [environmentVariable('CODER_WORKSPACE_IS_PREBUILD', 'true')] : []),
    ...(build.prebuild === 'claim' ? [environmentVariable('CODER_WORKSPACE_IS_PREBUILD_CLAIM', 'true')] : []),
    ...(build.isDebugged ? [environmentVariable('TF_LOG', 'JSON')] : []),
    ...parameterVariables(build.parameters, previous),
    ...frozenVariables(version.id, version.variables),
    ...startCount(version.variables, isStart),
  ];
};
