import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { organizationViews, type Place, pathOf, placeOf, tabs } from '#clients/client/page-addresses.ts';

const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const id = (prefix: string) => fc.stringMatching(/^[A-Za-z0-9]{16}$/).map((text) => `${prefix}-${text}`);

/** `settings/tokens` and `organizations/new` belong to the page itself. */
const organization = name.filter((text) => text !== 'settings' && text !== 'organizations');

const places: fc.Arbitrary<Place> = fc.oneof(
  fc.constant<Place>({ view: 'home' }),
  fc.constant<Place>({ view: 'tokens' }),
  fc.constant<Place>({ view: 'new-organization' }),
  fc.record({ view: fc.constantFrom(...organizationViews), organization }),
  fc.record({ view: fc.constant('variable-set' as const), organization, id: id('varset') }),
  fc.record({ view: fc.constant('policy-set' as const), organization, id: id('polset') }),
  fc.record({ view: fc.constant('team' as const), organization, id: id('team') }),
  fc.record({ view: fc.constant('agent-pool' as const), organization, id: id('apool') }),
  fc.record({ view: fc.constant('project' as const), organization, id: id('prj') }),
  fc.record({ view: fc.constant('workspace' as const), organization, workspace: name, tab: fc.constantFrom(...tabs) }),
  fc.record({ view: fc.constant('run' as const), organization, workspace: name, run: id('run') }),
  fc.record({
    view: fc.constant('commit' as const),
    organization,
    identifier: fc
      .array(fc.stringMatching(/^[\w.-]{1,12}$/), { minLength: 2, maxLength: 4 })
      .map((all) => all.join('/')),
    sha: fc.stringMatching(/^[0-9a-f]{40}$/),
  }),
  fc.record({ view: fc.constant('state' as const), organization, workspace: name, version: id('sv') }),
);

describe('addresses', () => {
  it('lead back to their place, for any workspace name', () => {
    fc.assert(
      fc.property(places, (place) => {
        expect(placeOf(pathOf(place))).toEqual(place);
      }),
    );
  });

  it('of the command line are supported', () => {
    const run = { view: 'run', organization: 'acme', workspace: 'network', run: 'run-CZcmD7eagjhyX0vN' };
    expect(placeOf('/app/acme/network/runs/run-CZcmD7eagjhyX0vN')).toEqual(run);
    expect(placeOf('/app/acme/workspaces/network/runs/run-CZcmD7eagjhyX0vN')).toEqual(run);
    expect(placeOf('/app/settings/tokens')).toEqual({ view: 'tokens' });
    // URLs that the CLI prints for workspaces with the same names as parts of the page's addresses.
    expect(placeOf('/app/acme/workspaces/runs/run-CZcmD7eagjhyX0vN')).toMatchObject({ workspace: 'workspaces' });
    expect(placeOf('/app/acme/workspaces/workspaces/runs/run-CZcmD7eagjhyX0vN')).toMatchObject({
      view: 'run',
      workspace: 'workspaces',
    });
  });

  it('that are unknown lead to no view', () => {
    for (const path of [
      '/elsewhere',
      '/app/acme/workspaces/a/nonsense',
      '/app/acme/projects/varset-CZcmD7eagjhyX0vN',
      '/app/acme/settings/policy-sets/polset-CZcmD7eagjhyX0vN/more',
      '/app/acme/workspaces/a/runs/b/c',
      '/app/%E0',
    ]) {
      expect(placeOf(path), path).toEqual({ view: 'nowhere' });
    }
  });
});
