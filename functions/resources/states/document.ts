import { many, one } from '#api/answer.ts';
import type { Granted } from '#api/permissions/granted.ts';
import type { StateOutput, StateSummary } from './content.ts';
import type { StateVersion } from './state-version.ts';

/** The id of an output contains its state version and its index there, so that outputs need no record. */
export const outputId = (stateVersionId: string, index: number): string =>
  `wsout-${stateVersionId.replace(/^sv-/, '')}${index.toString(36)}`;

const outputIdForm = /^wsout-([A-Za-z0-9]{16})([0-9a-z]{1,6})$/;

export const readOutputId = (id: string): { stateVersionId: string; index: number } | undefined => {
  const match = outputIdForm.exec(id);
  return match ? { stateVersionId: `sv-${match[1]}`, index: Number.parseInt(match[2] as string, 36) } : undefined;
};

type Resources = Omit<StateSummary, 'outputs'>;

const inlineSummary = ({ summary }: StateVersion): Resources | undefined => summary && JSON.parse(summary);

export interface StateVersionLinks {
  baseUrl: string;
  granted: Granted;
  /** Presigned URLs, for the author of a version with a pending upload. */
  upload?: { state: string; json: string };
  summary?: Resources;
  /** Only for a single version. */
  nextId?: string | null;
}

export const stateVersionDocument = (version: StateVersion, links: StateVersionLinks) => {
  const { baseUrl, granted, upload, summary = inlineSummary(version), nextId } = links;
  const path = `/api/v2/state-versions/${version.id}`;
  const final = version.status === 'finalized';
  return {
    id: version.id,
    type: 'state-versions',
    attributes: {
      'created-at': version.createdAt,
      status: version.status,
      serial: version.serial,
      size: version.size ?? null,
      intermediate: version.intermediate,
      'state-version': final ? 4 : null,
      'terraform-version': version.terraformVersion ?? null,
      'resources-processed': final,
      resources: summary?.resources ?? null,
      modules: summary?.modules ?? null,
      providers: summary?.providers ?? null,
      'billable-rum-count': null,
      'vcs-commit-sha': null,
      'vcs-commit-url': null,
      'hosted-state-download-url': final ? `${baseUrl}${path}/download` : null,
      'hosted-json-state-download-url': final && version.json ? `${baseUrl}${path}/json-download` : null,
      'hosted-state-upload-url': upload?.state ?? null,
      'hosted-json-state-upload-url': upload?.json ?? null,
      'encrypted-state-download-url': null,
      'sanitized-state-download-url': null,
      'sanitized-state-upload-url': null,
      /** Not in HCP's API: hex SHA-256 of the state, to verify a download. */
      sha256: (final && version.sha256) || null,
      /** Not in HCP's API: the reason for discarding it, shown to users. */
      'error-message': version.refusal ?? null,
      permissions: { 'can-restore-backing-data': granted.has('data:delete') },
    },
    relationships: {
      workspace: one('workspaces', version.workspaceId),
      run: one('runs', version.runId ?? version.ofRunId),
      'created-by': one('users', version.userId),
      'rollback-state-version': one('state-versions', version.rollbackOf),
      'previous-state-version': one('state-versions', version.previousId),
      ...(nextId === undefined ? {} : { 'next-state-version': one('state-versions', nextId) }),
      outputs: many(
        'state-version-outputs',
        Array.from({ length: final ? (version.outputCount ?? 0) : 0 }, (_, index) => outputId(version.id, index)),
      ),
    },
    links: { self: path },
  };
};

interface Shown {
  /** Includes a sensitive value; only for callers with permission to read the whole state. */
  reveal?: boolean;
  /** Size of a value that is left out. */
  omittedBytes?: number | undefined;
}

export const outputDocument = (
  stateVersionId: string,
  output: StateOutput,
  index: number,
  { reveal = false, omittedBytes }: Shown = {},
) => {
  const omitted = omittedBytes !== undefined;
  const id = outputId(stateVersionId, index);
  return {
    id,
    type: 'state-version-outputs',
    attributes: {
      name: output.name,
      sensitive: output.sensitive,
      type: output.type,
      value: omitted || (output.sensitive && !reveal) ? null : output.value,
      // Without it, Terraform's command line reads the whole state instead of a null.
      'detailed-type': omitted ? null : output.detailedType,
      'omitted-bytes': omittedBytes,
    },
    relationships: { configurable: { data: null } },
    links: { self: `/api/v2/state-version-outputs/${id}` },
  };
};
