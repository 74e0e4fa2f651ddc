import { type ReactNode, useDeferredValue } from 'react'
import { ErrorPanel, type ErrorPanelProps } from './error-panel.tsx'
import { Skeleton } from './skeleton.tsx'

interface LoadedProps<Data> {
	readonly data: Data | undefined
	readonly failure?: Omit<ErrorPanelProps, 'isSmall'> | undefined
	/** Of what stands in its place before it is there. */
	readonly rows?: number
	readonly children: (data: Data) => ReactNode
}

/** What comes from the server: rows in its place before it is there, and what is there stays beside an error. */
export function Loaded<Data>({ data, failure, rows, children }: LoadedProps<Data>) {
	// Drawn for the first time it takes longest: deferred, React gives way to the browser meanwhile.
	const isDrawn = useDeferredValue(data !== undefined)
	return (
		<>
			{failure && <ErrorPanel isSmall {...failure} />}
			{isDrawn && data !== undefined ? children(data) : !failure && <Skeleton rows={rows} />}
		</>
	)
}
