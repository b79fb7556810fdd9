#!/bin/sh
# Makes the font files of this folder from the package @fontsource-variable/inter: the weights and letters that the dashboard
# needs are a third of its size. Needs fonttools and brotli (pip install fonttools brotli).
set -e
here=$(dirname "$0")
files=$here/../../../../../node_modules/@fontsource-variable/inter/files
temp=$(mktemp -d)
for name in latin latin-ext; do
  fonttools varLib.instancer -q "$files/inter-$name-wght-normal.woff2" wght=400:700 -o "$temp/$name.ttf"
done
subset() {
  pyftsubset "$temp/$1.ttf" --unicodes="$2" --layout-features=kern,tnum --no-hinting --flavor=woff2 --output-file="$here/$3"
}
# Ranges as in fonts.css.
subset latin U+20-7E,U+A0,U+A9,U+B0,U+B7,U+D7,U+2013,U+2014,U+2018,U+2019,U+201C,U+201D,U+2022,U+2026,U+20AC,U+2191,U+2193,U+2212 inter-basic.woff2
subset latin U+A1-FF,U+131,U+152,U+153 inter-latin.woff2
subset latin-ext U+100-17F inter-latin-ext.woff2
rm -r "$temp"
