/** Compression of responses. @param accepted the request's `Accept-Encoding` */

const acceptedIn = (accepted: string | undefined): string[] =>
  (accepted ?? '').split(',').flatMap((part) => {
    const [name = '', ...parameters] = part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    return parameters.some((parameter) => /^q=0(\.0+)?$/.test(parameter)) ? [] : [name];
  });

/** `br;q=1.0, gzip;q=0` → `br`: the best encoding that the client accepts, if any. */
export const encodingFor = (accepted: string | undefined): 'br' | 'gzip' | undefined =>
  (['br', 'gzip'] as const).find((name) => acceptedIn(accepted).includes(name));

export const acceptsGzip = (accepted: string | undefined): boolean => acceptedIn(accepted).includes('gzip');
