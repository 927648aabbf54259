import { genericHost } from '#platform/net/generic-host.ts';
import { base } from '../location.ts';
import { Code } from './basics.tsx';

/** The `cloud` block to paste into a configuration. */
const cloudBlock = (host: string, organization: string, workspace: string): string => `terraform {
  cloud {
    hostname     = "${host}"
    organization = "${organization}"
    workspaces {
      name = "${workspace}"
    }
  }
}`;

/** Terraform requires HTTPS, except where a file of `stepform login --terraform` names the services. */
const onOneMachine = base.startsWith('http:');
const host = onOneMachine ? genericHost : new URL(base).host;

export const CloudBlock = ({ organization, workspace }: { organization: string; workspace: string }) => (
  <>
    <Code label="Cloud block" text={cloudBlock(host, organization, workspace)} />
    <p class="soft">
      Run <code>{onOneMachine ? 'stepform login --terraform' : `terraform login ${host}`}</code> once, then{' '}
      <code>terraform init</code> and <code>terraform apply</code>. The run appears here.
    </p>
  </>
);
