// What each kind of record is found by, as its column `searchText` has it: the words of its title, and after a slash its other words and spellings.
// Triggers make the entries of the index of it (migration 0079).
import { otherSpellings, words } from '../../platform/base/search-words.ts'

/** The tables that are searched. */
export type SearchedTable = 'companies' | 'contacts' | 'deals' | 'invoices' | 'time_entries'

/** A record is found by so many words. */
const mostStored = 64

type Text = string | null | undefined

function searchText(title: string, others: readonly Text[], wordsOf = words, more: readonly string[] = []): string {
	const named = wordsOf(title).slice(0, mostStored)
	const all = [...others.flatMap((text) => (text ? wordsOf(text) : [])), ...more]
	const rest = [...new Set(all)].filter((word) => !named.includes(word)).slice(0, mostStored)
	const spelled = [title, ...others].flatMap((text) => (text ? otherSpellings(text) : [])).slice(0, mostStored)
	const behind = [...new Set([...rest, ...spelled])]
	return [...named, ...(behind.length > 0 ? ['/', ...behind] : [])].join(' ')
}

/** Numbers of invoices are found with and without their leading zeros: `2` finds `0002`, and `0002` does not find `0020`. */
const withoutZeros = (word: string) => word.replace(/^0+(?=\d+$)/, '')

const numberWords = (text: string) => words(text).map(withoutZeros)

/** The words with leading zeros: a number is found with them, and while they are typed. */
const zeroWords = (text: Text) => (text ? words(text).filter((word) => withoutZeros(word) !== word) : [])

/** The fields of which a record's text is made. */
interface Sources {
	companies: { name: string; domain?: Text }
	contacts: { name: string; email?: Text }
	deals: { name: string }
	invoices: { invoiceNumber: string; paymentReference: Text }
	time_entries: { taskName: Text; deliverableName: Text; description: Text }
}

/** The columns with these fields. */
export const searchedFields: { readonly [Table in SearchedTable]: readonly (keyof Sources[Table] & string)[] } = {
	companies: ['name', 'domain'],
	contacts: ['name', 'email'],
	deals: ['name'],
	invoices: ['invoiceNumber', 'paymentReference'],
	time_entries: ['taskName', 'deliverableName', 'description'],
}

export const searchTexts: { readonly [Table in SearchedTable]: (record: Sources[Table]) => string } = {
	companies: ({ name, domain }) => searchText(name, [domain]),
	contacts: ({ name, email }) => searchText(name, [email]),
	deals: ({ name }) => searchText(name, []),
	invoices: ({ invoiceNumber, paymentReference }) =>
		searchText(invoiceNumber, [paymentReference], numberWords, [invoiceNumber, paymentReference].flatMap(zeroWords)),
	time_entries: ({ taskName, deliverableName, description }) => searchText('', [taskName, deliverableName, description]),
}

/** The changes of a record, with its text when that changes. */
export function withSearchText<Table extends SearchedTable, Changes extends object>(
	table: Table,
	stored: Sources[Table],
	changes: Changes,
): Changes & { searchText?: string } {
	const [before, after] = [searchTexts[table](stored), searchTexts[table]({ ...stored, ...changes })]
	return before === after ? changes : { ...changes, searchText: after }
}
