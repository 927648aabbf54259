import { putNext } from '#platform/store/edits.ts';
import { keys } from '#platform/store/keys.ts';
import { get } from '#platform/store/table.ts';

/** Versions of policy engines that the operator added (Terraform Enterprise API: admin OPA and Sentinel versions). */

export const tools = ['opa', 'sentinel'] as const;
export type Tool = (typeof tools)[number];

export interface Build {
  url: string;
  /** Hex SHA-256 of the file. */
  sha: string;
  os: 'linux';
  arch: 'amd64' | 'arm64' | 's390x';
}

export interface ToolVersion {
  id: string;
  /** Without "v". */
  version: string;
  archs: Build[];
  official: boolean;
  enabled: boolean;
  beta: boolean;
  deprecated: boolean;
  deprecatedReason: string | null;
  /** Null for the version that comes with the platform. */
  createdAt: string | null;
}

interface ToolVersions {
  /** Of this list. */
  version: number;
  versions: ToolVersion[];
}

/** They fit into one item. */
export const maxToolVersions = 200;

/** Newest first. 1 read. */
export const listToolVersions = async (tool: Tool): Promise<ToolVersion[]> =>
  (await get<ToolVersions>(keys.toolVersions(tool)))?.versions ?? [];

/** 1 read. */
export const getToolVersion = async (tool: Tool, version: string): Promise<ToolVersion | undefined> =>
  (await listToolVersions(tool)).find((one) => one.version === version.replace(/^v/, ''));

const attempts = 5;

/**
 * Changes the list with one conditional write.
 * @param work runs again after a concurrent change
 * @returns undefined when every attempt met a concurrent change
 */
export const changeToolVersions = async (
  tool: Tool,
  work: (versions: ToolVersion[]) => ToolVersion[],
): Promise<ToolVersion[] | undefined> => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { version, versions } = (await get<ToolVersions>(keys.toolVersions(tool))) ?? { version: 0, versions: [] };
    const next = work(versions);
    if (await putNext(keys.toolVersions(tool), { version, versions: next })) return next;
  }
  return undefined;
};
