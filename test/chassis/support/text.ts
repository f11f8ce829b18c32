// Any text, of any code points but surrogates. (`unit: 'binary'` of fast-check takes a second to set up.)
import fc from 'fast-check'

const unit = fc
  .oneof(fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((point) => String.fromCodePoint(point))

export const anyText = fc.string({ unit })
