// How the tests ask the operations of this folder.
import type { Samples } from '../../../test/sample.ts'

export const samples: Samples = { reports: {} }
