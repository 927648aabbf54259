import { useEffect } from 'preact/hooks';
import { ApiError } from '#clients/client/client.ts';
import { askForIssuer, depart, isReturning, issuer, tokenOf } from '#clients/web/issuer.ts';
import { Notice } from '#clients/web/parts/basics.tsx';
import { Text, textOf } from '#clients/web/parts/fields.tsx';
import { Form } from '#clients/web/parts/form.tsx';
import { Mark, Shell } from '#clients/web/parts/shell.tsx';
import { ended, signIn } from '#clients/web/session.ts';

/** Shown without a token. The URL stays, so that a link continues after sign-in. */
export const SignIn = () => {
  useEffect(() => {
    // On failure, users can still sign in with a token.
    askForIssuer().catch(() => {});
  }, []);
  const submit = async (data: FormData) => {
    try {
      await signIn(await tokenOf((textOf(data, 'token') ?? '').trim()));
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      throw new Error('Invalid token. Check that you copied all of it and that it has not expired.');
    }
  };
  return (
    <Shell title="Sign in" crumbs={[]}>
      <section class="gate panel pad stack">
        <div class="row">
          <span class="brand">
            <Mark />
          </span>
          <h1>Sign in</h1>
        </div>
        {ended.value && <Notice kind="warn">{ended.value}</Notice>}
        {isReturning.value && <p role="status">Signing you in …</p>}
        {issuer.value && (
          <>
            <button type="button" class="primary" onClick={() => depart()}>
              Sign in with {issuer.value}
            </button>
            <p class="soft small">Or with an API token:</p>
          </>
        )}
        <Form submit={issuer.value ? 'Use token' : 'Sign in'} onSubmit={submit}>
          <Text
            label="API token"
            name="token"
            type="password"
            required
            autoFocus={!issuer.value}
            autoComplete="current-password"
            hint="The same token that terraform uses. It is kept until you close the last tab of this page."
          />
        </Form>
        <details>
          <summary>Where do I get a token?</summary>
          <p class="soft small">
            On one machine, <code>npm start</code> prints a token. On AWS, the Bootstrap function returns a one-time
            secret for the first owner: paste it here. After signing in, create tokens under your user name.
          </p>
        </details>
      </section>
    </Shell>
  );
};
