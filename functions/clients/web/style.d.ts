/** The bundler adds imported style sheets to the page's, or as text with `type: 'text'`. */
declare module '*.css' {
  const text: string;
  export default text;
}
