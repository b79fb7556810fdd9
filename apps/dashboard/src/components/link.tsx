import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef } from 'react';

type AnchorRest = Omit<ComponentPropsWithRef<'a'>, keyof AnchorProps>;

/** An inline link. `to` and `params` are type-checked against the routes. */
export const TextLink = createLink((props: AnchorProps & AnchorRest) => <Anchor {...props} />);

/** The link of a table's row, which makes the whole row clickable. */
export const RowLink = createLink((props: AnchorProps & AnchorRest) => (
  <Anchor className="covering breakable" fw={550} size="sm" c="var(--mantine-color-text)" {...props} />
));

/** A link styled as a button. */
export const ButtonLink = createLink((props: ButtonProps & Omit<ComponentPropsWithRef<'a'>, keyof ButtonProps>) => (
  <Button component="a" {...props} />
));
