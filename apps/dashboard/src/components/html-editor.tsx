import './html-editor.css';
import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { html } from '@codemirror/lang-html';
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';
import { type Ref, useEffect, useEffectEvent, useImperativeHandle, useRef } from 'react';
import type { ContentFormat } from '../generated/graphql.ts';
import type { ContentProblem } from './content-check.ts';
import { MJML_TAGS } from './mjml-tags.ts';

export interface Placeholder {
  /** The name between the braces, such as `name`. */
  key: string;
  label: string;
}

export interface EditorHandle {
  /** Inserts text at the cursor and moves the cursor after it. */
  insert: (text: string) => void;
  /** Moves the cursor to a problem. */
  show: (problem: ContentProblem) => void;
}

interface HtmlEditorProps {
  value: string;
  format: ContentFormat;
  label: string;
  placeholders: Placeholder[];
  /** Problems to mark in the text. */
  problems: readonly ContentProblem[];
  readOnly?: boolean;
  onChange: (value: string) => void;
  ref?: Ref<EditorHandle>;
}

/** Colors use theme variables, so they follow the color scheme. */
const COLORS = HighlightStyle.define([
  { tag: [tags.tagName, tags.angleBracket], color: 'var(--editor-tag)' },
  { tag: tags.attributeName, color: 'var(--editor-name)' },
  { tag: [tags.attributeValue, tags.string], color: 'var(--editor-string)' },
  { tag: [tags.comment, tags.documentMeta], color: 'var(--editor-comment)' },
  { tag: [tags.keyword, tags.propertyName], color: 'var(--editor-name)' },
  { tag: [tags.number, tags.color, tags.unit], color: 'var(--editor-number)' },
]);

/** An HTML and MJML editor. Tab leaves the editor, as it leaves other fields. */
export default function HtmlEditor({
  value,
  format,
  label,
  placeholders,
  problems,
  readOnly = false,
  onChange,
  ref,
}: HtmlEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const tellChange = useEffectEvent(onChange);
  const complete = useEffectEvent((context: CompletionContext) => completionsOf(context, placeholders));
  useEffect(() => {
    if (parent.current === null) return undefined;
    const nonce = document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '';
    const editor = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          basicSetup,
          format === 'mjml' ? html({ extraTags: MJML_TAGS }) : html(),
          lintGutter(),
          syntaxHighlighting(COLORS),
          EditorView.cspNonce.of(nonce),
          EditorView.domEventHandlers({ beforeinput: typeOverSelection }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorState.readOnly.of(readOnly),
          EditorState.languageData.of(() => [{ autocomplete: (context: CompletionContext) => complete(context) }]),
          autocompletion(),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) tellChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
    // The editor holds the text from here on; what comes from elsewhere is put in below.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [label, format, readOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const { doc } = editor.state;
    editor.dispatch(
      setDiagnostics(
        editor.state,
        problems.map((problem) => diagnosticOf(problem, doc)),
      ),
    );
  }, [problems, label, format, readOnly]);
  useImperativeHandle(ref, () => ({
    insert: (text) => {
      const editor = view.current;
      if (editor === null) return;
      editor.dispatch(editor.state.replaceSelection(text));
      editor.focus();
    },
    show: (problem) => {
      const editor = view.current;
      if (editor === null) return;
      const { from } = rangeOf(problem, editor.state.doc);
      editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
      editor.focus();
    },
  }));
  return <div ref={parent} className="html-editor" />;
}

const diagnosticOf = (problem: ContentProblem, doc: Text): Diagnostic => ({
  ...rangeOf(problem, doc),
  severity: 'error',
  message: problem.message,
});

/** The range from the problem's start to the end of its line. Problems without a position use the first line. */
function rangeOf({ line, column }: ContentProblem, doc: Text): { from: number; to: number } {
  // The text may have become shorter since it was checked.
  const { from, to, text } = doc.line(Math.min(line ?? 1, doc.lines));
  const start = column === null ? text.search(/\S|$/) : column - 1;
  return { from: Math.min(from + start, to), to };
}

/**
 * Handles typing over a selection. The browser would preserve formatting with inline styles, which the content
 * security policy blocks. Extensions such as bracket closing still run first.
 */
function typeOverSelection(event: InputEvent, view: EditorView): boolean {
  const { data, inputType } = event;
  const { main } = view.state.selection;
  if (inputType !== 'insertText' || data === null || main.empty || view.composing || view.state.readOnly) return false;
  event.preventDefault();
  const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handle) => handle(view, main.from, main.to, data, insert)))
    view.dispatch(
      view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true }),
    );
  return true;
}

/** Completes placeholder names after two braces. */
function completionsOf(context: CompletionContext, placeholders: Placeholder[]) {
  const typed = context.matchBefore(/\{\{\s*[\w.-]*$/);
  if (typed === null) return null;
  const braces = /^\{\{\s*/.exec(typed.text)?.[0].length ?? 2;
  return {
    from: typed.from + braces,
    options: placeholders.map(({ key, label }) => ({ label: key, detail: label, apply: `${key}}}` })),
    validFor: /^[\w.-]*$/,
  };
}
