import type { Resource } from '#api/answer.ts';
import { environment } from '#platform/environment.ts';
import { opaVersion, released } from '../engine/opa-release.ts';
import type { Build, Tool, ToolVersion } from './records.ts';

const buildOf = (arch: 'amd64' | 'arm64', platform: string): Build[] => {
  const release = released[platform];
  return release
    ? [{ url: `${environment.opaReleases}/v${opaVersion}/${release.file}`, sha: release.sha256, os: 'linux', arch }]
    : [];
};

/** The version that evaluates policies which require no other; it cannot be changed. */
export const ownVersions = (tool: Tool): ToolVersion[] => {
  if (tool === 'sentinel') return [];
  return [
    {
      id: `tool-${opaVersion}`,
      version: opaVersion,
      archs: [...buildOf('amd64', 'linux x64'), ...buildOf('arm64', 'linux arm64')],
      official: true,
      enabled: true,
      beta: false,
      deprecated: false,
      deprecatedReason: null,
      createdAt: null,
    },
  ];
};

/** Terraform Enterprise's format. `url` and `sha` are those of amd64. */
export const toolVersionDocument = (tool: Tool, one: ToolVersion): Resource => {
  const { id, version, archs, official, enabled, beta, deprecated, deprecatedReason, createdAt } = one;
  const main = archs.find(({ arch }) => arch === 'amd64');
  return {
    id,
    type: `${tool}-versions` as const,
    attributes: {
      version,
      url: main?.url ?? null,
      sha: main?.sha ?? null,
      deprecated,
      'deprecated-reason': deprecated ? deprecatedReason : null,
      official,
      enabled,
      beta,
      usage: null,
      'created-at': createdAt,
      archs,
    },
    links: { self: `/api/v2/admin/${tool}-versions/${id}` },
  };
};
