import { describe, expect, it } from 'vitest';
import { readAtlantis } from '#clients/cli/import/atlantis.ts';

const read = (projects: string, more = '') => readAtlantis(`version: 3\n${more}projects:\n${projects}`, 'acme/infra');

describe('an atlantis.yaml', () => {
  it('becomes workspaces with folder, version, engine, paths and apply requirements', () => {
    const { workspaces, byHand } = read(`
- name: network-prod
  dir: network/
  branch: /^main$/
  terraform_version: v1.5.7
  terraform_distribution: opentofu
  autoplan: {when_modified: ["*.tf", "../modules/**/*.tf"]}
  apply_requirements: [approved, mergeable]
- dir: .
- {dir: apps/web, workspace: staging, autoplan: {enabled: false}}
`);
    expect(byHand).toEqual([]);
    expect(workspaces[0]).toEqual({
      name: 'network-prod',
      branch: 'main',
      attributes: {
        'working-directory': 'network',
        'terraform-version': '1.5.7',
        engine: 'tofu',
        'file-triggers-enabled': true,
        'trigger-patterns': ['/network/*.tf', '/modules/**/*.tf'],
        'speculative-enabled': true,
        'apply-before-merge-enabled': true,
        'apply-before-merge-requirements': ['approved', 'mergeable'],
      },
      byHand: [],
    });
    expect(workspaces[1]).toMatchObject({
      name: 'infra',
      attributes: { 'working-directory': '', 'trigger-patterns': ['/**/*.tf*', '/**/.terraform.lock.hcl'] },
    });
    expect(workspaces[2]).toMatchObject({
      name: 'apps-web-staging',
      attributes: {
        'speculative-enabled': false,
        'trigger-patterns': ['/apps/web/**/*.tf*', '/apps/web/**/.terraform.lock.hcl'],
      },
      byHand: ['terraform.workspace is "apps-web-staging" now, no longer "staging"'],
    });
  });

  it('leaves nothing out without naming it', () => {
    const { workspaces, byHand } = read(
      `
- dir: a
  branch: /release-.*/
  workflow: custom
  depends_on: [b]
  execution_order_group: 2
  repo_locks: {mode: on_apply}
  terraform_distribution: terragrunt
  apply_requirements: [undiverged, unlocked]
  autoplan: {when_modified: ["!docs/**", "../../other/*.tf", "*.tf"]}
`,
      'automerge: true\nparallel_plan: false\n',
    );
    const [workspace] = workspaces;
    expect(byHand).toEqual([
      'automerge has no equivalent',
      'parallel_plan: runs of different workspaces are always parallel',
    ]);
    expect(workspace?.attributes['trigger-patterns']).toEqual(['/a/*.tf']);
    expect(workspace?.branch).toBeUndefined();
    for (const word of [
      'branch /release-.*/',
      'workflow "custom"',
      'depends_on',
      'execution_order_group',
      'repo_locks',
    ])
      expect(workspace?.byHand.join('\n')).toContain(word);
    for (const word of ['terragrunt', 'undiverged', 'unlocked', '!docs/**', '../../other/*.tf'])
      expect(workspace?.byHand.join('\n')).toContain(word);
  });

  it.each([
    ['of version 2', 'version: 2\nprojects: [{dir: a}]', 'only version 3'],
    ['without projects', 'version: 3', 'lists no projects'],
    ['that is not YAML', 'version: [', 'atlantis.yaml: '],
    [
      'whose projects get the same name',
      'version: 3\nprojects: [{dir: a/b}, {dir: a-b}]',
      'two projects become workspace a-b',
    ],
    ['with a folder outside of the repository', 'version: 3\nprojects: [{dir: ../a}]', 'outside the repository'],
  ])('%s is refused by name', (_, text, message) => {
    expect(() => readAtlantis(text, 'acme/infra')).toThrow(message);
  });
});
