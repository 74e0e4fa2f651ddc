import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { list, read } from '../api/query.ts'
import { searchFailed } from '../format/names.ts'
import { ComboBox } from '../ui/combo-box.tsx'

/** Kinds of record that others point to. */
export type PickedKind = 'companies' | 'contacts' | 'deals'

interface RecordPickerProps {
	readonly kind: PickedKind
	readonly label: string
	readonly value: string | null
	readonly onChange: (id: string | null) => void
	/** Only records with these, such as the contacts of a company. */
	readonly filter?: Readonly<Record<string, string>>
	readonly hint?: string | undefined
	readonly error?: string | undefined
	readonly isRequired?: boolean
	readonly placeholder?: string
	/** Offered for a name that no record has. */
	readonly onCreate?: (name: string) => void
}

interface Named {
	readonly id: string
	readonly name: string
	/** Of a company. */
	readonly billingEmail?: string | null
}

const makeNew = 'new'

/** A record found by its name; the server searches. */
export function RecordPicker({ kind, value, onChange, filter, onCreate, ...props }: RecordPickerProps) {
	const { data: stored } = useQuery({ ...read(`${kind}.get` as 'deals.get', value ?? ''), enabled: value !== null })
	/** As the list had it, until it is read. */
	const [picked, setPicked] = useState<Named>()
	const chosen: Named | undefined = stored ?? (picked?.id === value ? picked : undefined)
	const name = value === null ? '' : (chosen?.name ?? '')
	const [typed, setTyped] = useState<string>()
	/** Whether the first match of what was typed is to be chosen once it has come. */
	const [isWanted, setWanted] = useState(false)
	const [last, setLast] = useState(value)
	// A value from outside, as by the choice of a conflict, takes the place of what was typed.
	if (value !== last) {
		setLast(value)
		setTyped(undefined)
	}
	const text = typed ?? name
	const search = typed === undefined || typed === name ? undefined : typed.trim()
	// Most forms are opened for another field.
	const [isUsed, setUsed] = useState(false)
	const { data, isPending, isPlaceholderData, isFetching, isError } = useInfiniteQuery({
		...list(`${kind}.list` as 'deals.list', { ...filter, limit: 20, ...(search && { search }) }),
		enabled: isUsed,
	})
	const found: readonly Named[] = data?.pages[0]?.rows ?? []
	/** What was found is of an earlier text. */
	const isWaiting = search !== undefined && !isError && (isPending || isPlaceholderData)
	// The box clears the text of a choice that it does not know.
	const known: readonly Named[] = search || !chosen || found.some(({ id }) => id === value) ? found : [chosen, ...found]
	// While nobody knows whether there is one of that name, none is made.
	const isKnown = isWaiting || isError || known.some((record) => record.name.toLowerCase() === search?.toLowerCase())
	const choices = known.map(({ id, name: label, billingEmail }) => ({ id, label, note: billingEmail ?? '' }))
	if (onCreate && search && !isKnown) choices.push({ id: makeNew, label: `Create “${search}”`, note: '' })
	const first = isWaiting ? undefined : choices[0]?.id
	const take = (id: string | null) => {
		setLast(id)
		onChange(id)
	}
	const type = (next: string) => {
		setTyped(next)
		setWanted(false)
		if (next === '') take(null)
	}
	const choose = (id: string | null) => {
		// The box keeps its value when it is left.
		if (isWanted && isWaiting && id === value) return
		setTyped(undefined)
		setWanted(false)
		if (id === makeNew) return onCreate?.(text.trim())
		setPicked(known.find((record) => record.id === id))
		take(id)
	}
	const takeMatch = (id = first) => {
		if (id !== undefined) choose(id)
		else if (isWaiting) setWanted(true)
		return id !== undefined && id !== makeNew
	}
	useEffect(() => {
		if (isWanted && !isWaiting) choose(first ?? value)
	})
	return (
		<ComboBox
			{...props}
			choices={choices}
			match={search ? { id: first, take: takeMatch } : undefined}
			value={value}
			onChange={choose}
			inputValue={text}
			onInputChange={type}
			onFocus={() => setUsed(true)}
			emptyText={isFetching ? 'Searching…' : isError ? searchFailed : 'No match'}
		/>
	)
}
