import type { Answer } from '#api/answer.ts';
import { escaped, page } from '#api/page.ts';
import type { OfferedWay } from '../ways.ts';

/** Pages of `terraform login`. */

interface LoginRequest {
  host: string;
  /** Redirect URI of the response; a form's redirect has to be listed in the page's Content-Security-Policy. */
  redirectUri: string;
  /** The pasted token was not accepted. */
  refused: boolean;
  ways: OfferedWay[];
}

/**
 * Asks the user to allow a token for Terraform.
 * @param fields the client's request, repeated in the form
 */
export const askPage = (fields: Record<string, string>, { host, redirectUri, refused, ways }: LoginRequest): Answer => {
  const hidden = Object.entries(fields)
    .map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
    .join('\n');
  const problem = refused
    ? '<p class="bad" role="alert">Invalid API token: it is mistyped, expired or revoked.</p>'
    : '';
  const query = escaped(String(new URLSearchParams(fields)));
  const buttons = ways.map(
    ({ name, path }) => `<p><a class="button" href="..${path}?${query}">Sign in with ${escaped(name)}</a></p>`,
  );
  const offer = ways.length
    ? `${buttons.join('\n')}\n<p>Or paste your API token.</p>`
    : '<p>If it was you, paste your API token.</p>';
  return page(
    refused ? 403 : 200,
    'Terraform requests access',
    `<p>Someone started <code>terraform login</code> on this computer. If you allow it, Terraform gets its own token
for <strong>${escaped(host)}</strong>.</p>
${offer}
${problem}
<form method="post" action="authorization">
${hidden}
<label for="token">API token</label>
<input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required autofocus>
<button>Allow</button>
</form>
<p class="soft">If it was not you, close this page. View, create and revoke your tokens under
<a href="../app/settings/tokens">API tokens</a>.</p>`,
    `'self' ${new URL(redirectUri).origin}`,
  );
};

export const refusalPage = (why: string): Answer =>
  page(
    400,
    'Not a Terraform sign-in',
    `<p>${escaped(why)}</p><p>Run <code>terraform login</code> again and use the address that it shows.</p>`,
  );

/** Asks for consent after sign-in. Consent takes a click, so that no other page can give it. */
export const consentPage = (allow: string, { who, host }: { who: string; host: string }): Answer =>
  page(
    200,
    'Terraform requests access',
    `<p>You are signed in as <strong>${escaped(who)}</strong>. Someone started <code>terraform login</code> on this
computer. If that was you, allow it within two minutes: Terraform then gets its own token for
<strong>${escaped(host)}</strong>.</p>
<p><a class="button" href="${escaped(allow)}">Allow</a></p>
<p class="soft">If it was not you, close this page.</p>`,
  );
