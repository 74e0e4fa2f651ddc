// The languages of documents, and their words.
import type { Language } from '../../../generated/contract.ts'
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { nl } from './nl.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import type { Plural, Words } from './words.ts'

const tables: Readonly<Record<Language, Words>> = { en, de, fr, es, it, nl, pt, pl }

export const languages = Object.keys(tables) as Language[]

export const wordsOf = (language: Language): Words => tables[language]

/** The text with the values in place of their names in braces. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
	text.replaceAll(/\{(\w+)\}/g, (name, key) => values[key] ?? name)

/** The form for this count, with the count filled in. */
export const countOf = (language: Language, forms: Plural, count: number): string =>
	fill(forms[new Intl.PluralRules(language).select(count)] ?? forms.other, { count: String(count) })
