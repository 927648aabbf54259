import { describe, expect, it } from 'vitest';
import { clients, isAtHand } from '#test/hcp-clients/terraform.ts';
import { cloud, Terraform } from '../support/terraform.ts';
import { newName } from '../support/world.ts';

/**
 * Older Terraform and OpenTofu as clients: each creates its workspace, shows a plan of its own version, and applies.
 * `test/api/clients.test.ts` does the same with recorded requests, from Terraform 1.1 on and without the programs.
 */
describe.concurrent.each(clients)('$engine $version', (one) => {
  it.skipIf(!isAtHand(one))(
    'shows the plan and applies it (skipped: "npm run clients" builds it)',
    async ({ expect }) => {
      const configuration =
        'resource "terraform_data" "a" {\n  input = "here"\n}\noutput "place" { value = terraform_data.a.output }\n';
      const here = new Terraform({
        program: one.path,
        files: { 'cloud.tf': cloud(`name = "${newName('client')}"`), 'main.tf': configuration },
      });
      await here.succeed('init -no-color');
      const plan = await here.succeed('plan -no-color');
      const product = one.engine === 'tofu' ? 'OpenTofu' : 'Terraform';
      expect(plan).toContain(`${product} v${one.version}\non `);
      expect(plan).toContain('# terraform_data.a will be created');
      expect(plan.match(/Plan: 1 to add, 0 to change, 0 to destroy\./g)).toHaveLength(1);
      const apply = await here.succeed('apply -no-color -auto-approve');
      expect(apply).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.');
      expect(await here.succeed('output -no-color -raw place')).toBe('here');
      expect(await here.succeed('plan -no-color')).toContain('No changes.');
    },
  );
});

it('the clients include both engines', () => {
  expect(new Set(clients.map(({ engine }) => engine))).toEqual(new Set(['terraform', 'tofu']));
});
