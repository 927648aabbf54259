import { apart, copied, type MovingTable, onlyImported } from '#api/moving.ts';

/** Attributes of a workspace that clients may set, and how import and export treat each. */
export const workspaceAttributes = {
  name: copied,
  description: copied,
  'execution-mode': apart,
  /** Older name of execution mode remote. */
  operations: apart,
  'setting-overwrites': apart,
  'agent-pool-id': apart,
  engine: onlyImported('terraform'),
  'terraform-version': copied,
  'working-directory': copied,
  'auto-apply': copied,
  'auto-apply-run-trigger': copied,
  'allow-destroy-plan': copied,
  'queue-all-runs': copied,
  'speculative-enabled': copied,
  'apply-before-merge-enabled': onlyImported(false),
  'apply-before-merge-requirements': onlyImported(undefined),
  'structured-run-output-enabled': copied,
  'file-triggers-enabled': copied,
  'trigger-prefixes': copied,
  'trigger-patterns': copied,
  'global-remote-state': { import: 'copied', export: 'apart' },
  'project-remote-state': { import: 'copied', export: 'apart' },
  'assessments-enabled': copied,
  'source-name': copied,
  'source-url': copied,
  /** Users reconnect it after an import, as a note explains, because the target has other connections. */
  'vcs-repo': apart,
  'auto-destroy-at': apart,
  'auto-destroy-activity-duration': apart,
  'inherits-project-auto-destroy': apart,
  /** Always false. */
  'hyok-enabled': { import: 'left', export: 'left', unless: false },
} as const satisfies MovingTable;
