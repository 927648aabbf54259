import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
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

/**
 * Terraform requires HTTPS. The local platform serves this page over HTTP and returns its HTTPS host: until
 * then no block is shown, because people might copy a wrong one.
 */
const onOneMachine = base.startsWith('http:');
const host = signal(onOneMachine ? undefined : new URL(base).host);

const findHost = async (): Promise<void> => {
  const { headers } = await fetch(`${base}/.well-known/terraform.json`);
  host.value = new URL(headers.get('stepform-https-url') ?? base).host;
};

export const CloudBlock = ({ organization, workspace }: { organization: string; workspace: string }) => {
  useEffect(() => {
    if (!host.value) findHost().catch(() => {});
  }, []);
  if (!host.value) return null;
  return (
    <>
      <Code label="Cloud block" text={cloudBlock(host.value, organization, workspace)} />
      <p class="soft">
        {onOneMachine ? (
          <>
            Set the certificate and token variables that <code>npm start</code> printed. Then run{' '}
          </>
        ) : (
          <>
            Then run <code>terraform login {host.value}</code>,{' '}
          </>
        )}
        <code>terraform init</code> and <code>terraform apply</code>. The run appears here.
      </p>
    </>
  );
};
