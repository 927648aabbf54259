import { createHash } from 'node:crypto';

export interface StateFile {
  serial?: number;
  lineage?: string;
  outputs?: Record<string, { value: unknown; type: unknown; sensitive?: boolean }>;
  resources?: object[];
  version?: number;
}

/** A state file in Terraform's format, with its announced attributes. */
export const stateFile = (content: StateFile = {}) => {
  const { serial = 1, lineage = 'lineage-1', outputs = {}, resources = [], version = 4 } = content;
  const text = JSON.stringify({ version, terraform_version: '1.11.4', serial, lineage, outputs, resources });
  return { serial, lineage, md5: createHash('md5').update(text).digest('hex'), text };
};

export const resource = (type: string, name: string, instances = 1, more: object = {}) => ({
  mode: 'managed',
  type,
  name,
  provider: 'provider["terraform.io/builtin/terraform"]',
  instances: Array.from({ length: instances }, () => ({ attributes: {} })),
  ...more,
});
