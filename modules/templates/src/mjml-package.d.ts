declare module 'mjml' {
  /** Compiles MJML to HTML; throws if the root is not MJML. */
  export default function mjml2html(
    source: string,
    options: { validationLevel: 'soft'; ignoreIncludes: true; fonts: Record<string, string>; keepComments: boolean },
  ): Promise<{ html: string; errors: { line: number; message: string; tagName: string }[] }>;
}
