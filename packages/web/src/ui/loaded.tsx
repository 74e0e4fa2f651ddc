import type { ReactNode } from 'react'
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
export const Loaded = <Data,>({ data, failure, rows, children }: LoadedProps<Data>) => (
	<>
		{failure && <ErrorPanel isSmall {...failure} />}
		{data !== undefined ? children(data) : !failure && <Skeleton rows={rows} />}
	</>
)
