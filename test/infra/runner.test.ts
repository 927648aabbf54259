import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { only, resources } from './template.ts';

const dockerfile = readFileSync(new URL('../../functions/runner/program/Dockerfile', import.meta.url), 'utf8');

/** Docker's default capabilities. Fargate allows dropping them, and adding only SYS_PTRACE. */
const byDefault =
  'AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_CHROOT';

describe('the container of a runner', () => {
  const definition = only('AWS::ECS::TaskDefinition').Properties as {
    TaskRoleArn: { 'Fn::GetAtt': [string, string] };
    ContainerDefinitions: { User?: string; LinuxParameters: { Capabilities: { Add?: string[]; Drop: string[] } } }[];
  };
  const [container] = definition.ContainerDefinitions;

  it('keeps only the capabilities to start Terraform as another user', () => {
    const { Drop, Add } = container?.LinuxParameters.Capabilities ?? { Drop: [] };
    expect(Add).toBeUndefined();
    expect(byDefault.split(' ').filter((name) => !Drop.includes(name))).toEqual([
      'CHOWN',
      'DAC_OVERRIDE',
      'FOWNER',
      'KILL',
      'SETGID',
      'SETUID',
    ]);
  });

  it("runs as root, sets Terraform's users, and disables the inspector", () => {
    expect(container?.User).toBeUndefined();
    expect(dockerfile).toMatch(/^USER 0$/m);
    expect(dockerfile).toMatch(/^ENV STEPFORM_TERRAFORM_USERS=60000$/m);
    // Executable and not readable (terraform/executable.ts).
    expect(dockerfile).toMatch(/^RUN chmod 0711 \/engine\/\*$/m);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["node", "--disable-sigusr1",/m);
  });

  it('has a role without permissions', () => {
    const [id] = definition.TaskRoleArn['Fn::GetAtt'];
    const role = resources('AWS::IAM::Role').find((one) => one.id === id);
    expect(role?.Properties.Policies ?? []).toEqual([]);
    expect(role?.Properties.ManagedPolicyArns ?? []).toEqual([]);
    const attached = resources('AWS::IAM::Policy').filter(({ Properties }) =>
      JSON.stringify(Properties.Roles).includes(id),
    );
    expect(attached).toEqual([]);
  });
});
