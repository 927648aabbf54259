/** The bundler takes style sheets from imports: into the page's own, or as text with `type: 'text'`. */
declare module '*.css' {
  const text: string;
  export default text;
}
