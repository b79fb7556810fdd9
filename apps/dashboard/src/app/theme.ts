import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** Postroom's green, lightest to darkest. */
const pine: MantineColorsTuple = [
  '#eff7f4',
  '#dfeee8',
  '#bbdcd0',
  '#95c9b7',
  '#74b9a1',
  '#55a389',
  '#357d69',
  '#2b6a58',
  '#245a4b',
  '#1b473b',
];

/** Neutral grays tinted with the green. */
const gray: MantineColorsTuple = [
  '#f7f9f8',
  '#eff2f0',
  '#e3e7e5',
  '#d3d9d6',
  '#b9c1bd',
  '#8f9994',
  '#616c67',
  '#4d5752',
  '#38403c',
  '#222825',
];

const dark: MantineColorsTuple = [
  '#dbe2de',
  '#c0c9c4',
  '#b0bab5',
  '#6e7974',
  '#3c4642',
  '#353d39',
  '#282f2c',
  '#1c211f',
  '#161a18',
  '#101312',
];

const sized = { defaultProps: { size: 'sm' } };

/**
 * The theme meets WCAG AA contrast in both color schemes. It names component defaults instead of importing the
 * components: the theme is in the initial bundle, most components are not.
 */
export const theme = createTheme({
  colors: { pine, gray, dark },
  primaryColor: 'pine',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  respectReducedMotion: true,
  cursorType: 'pointer',
  defaultRadius: 'md',
  // In pixels, so that large text keeps its room on a phone.
  spacing: { xs: '10px', sm: '12px', md: '16px', lg: '20px', xl: '32px' },
  fontFamily: '"Inter Variable", system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, "Liberation Mono", monospace',
  fontSizes: { xs: '0.8125rem', sm: '0.875rem', md: '0.9375rem', lg: '1.0625rem', xl: '1.25rem' },
  headings: {
    fontWeight: '650',
    sizes: {
      h1: { fontSize: '1.5rem', lineHeight: '1.25' },
      h2: { fontSize: '1.125rem', lineHeight: '1.35' },
      h3: { fontSize: '0.9375rem', lineHeight: '1.4' },
    },
  },
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Alert: { defaultProps: { variant: 'light' } },
    Badge: { defaultProps: { variant: 'light', tt: 'none', fw: 550, fz: '0.8125rem' } },
    Button: sized,
    Card: { defaultProps: { withBorder: true, padding: 'lg' } },
    Menu: {
      // The placeholder would be a focusable child that is not a menu item.
      defaultProps: { position: 'bottom-end', shadow: 'md', withinPortal: true, withInitialFocusPlaceholder: false },
    },
    Modal: {
      defaultProps: { centered: true, closeButtonProps: { 'aria-label': 'Close' } },
      styles: {
        title: { fontSize: 'var(--mantine-font-size-md)', fontWeight: 600, lineHeight: 'var(--mantine-line-height)' },
      },
    },
    NavLink: { defaultProps: { variant: 'light' } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    PasswordInput: sized,
    // Longer lists are searched.
    Select: { defaultProps: { size: 'sm', limit: 500 } },
    MultiSelect: { defaultProps: { limit: 500 } },
    Textarea: sized,
    TextInput: sized,
    Tooltip: { defaultProps: { openDelay: 300 } },
  },
});

/**
 * The ground of what is chosen, such as the current page in the navigation. The library sets its variables for the theme's own
 * colors after our style sheets, and nearly as dark as the ground.
 */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {},
  dark: {
    '--mantine-color-pine-light': 'rgb(85 163 137 / 20%)',
    '--mantine-color-pine-light-hover': 'rgb(85 163 137 / 26%)',
  },
});
