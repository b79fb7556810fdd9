declare module 'mjml' {
  /** Compiles MJML to HTML; throws if it is invalid. */
  export default function mjml2html(
    source: string,
    options: { validationLevel: 'strict'; ignoreIncludes: true; fonts: Record<string, string>; keepComments: boolean },
  ): Promise<{ html: string }>;
}
